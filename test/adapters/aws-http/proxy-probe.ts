import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/system/system.ts';

/** Sends a batch with both clients, and one request with `fetch`. Runs in a process whose environment names a proxy. */
const [endpoint = ''] = process.argv.slice(2);
const [region, env] = ['us-east-1', process.env];
const input = { QueueUrl: `${endpoint}/1/queue`, Entries: [{ Id: '0', MessageBody: 'x' }] };

const access = { endpoint, region, env, http: httpClient(), clock: systemClock, random: systemRandom };
const slim = awsJsonService('sqs', access);
await slim.call('SendMessageBatch', input);
slim.close();
const sdk = sqsClient({ endpoint, region }, env);
await sdk.send(new SendMessageBatchCommand(input));
sdk.destroy();
// The proxy closes the connection.
await fetch(endpoint, { method: 'POST', headers: { 'x-amz-target': 'fetch' } }).catch(() => {});
