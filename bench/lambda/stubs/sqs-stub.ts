import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * SQS with the least latency, in its own process: accepts everything and stores nothing. On any message from its parent it
 * sends the number of messages that arrived by queue name.
 */

interface Entry {
  readonly Id: string;
  readonly MessageBody?: string;
}

interface Input {
  readonly QueueName?: string;
  readonly QueueUrl?: string;
  readonly Entries?: readonly Entry[];
}

const counts: Record<string, number> = {};
let url = '';

const ACTIONS: Readonly<Record<string, (input: Input) => unknown>> = {
  GetQueueUrl: ({ QueueName }) => ({ QueueUrl: `${url}/000000000000/${QueueName}` }),
  SendMessageBatch: ({ QueueUrl = '', Entries = [] }) => {
    const queue = QueueUrl.slice(QueueUrl.lastIndexOf('/') + 1);
    counts[queue] = (counts[queue] ?? 0) + Entries.length;
    const Successful = Entries.map(({ Id, MessageBody = '' }) => ({
      Id,
      MessageId: randomUUID(),
      MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
    }));
    return { Successful, Failed: [] };
  },
  ChangeMessageVisibilityBatch: succeeded,
  DeleteMessageBatch: succeeded,
};

function succeeded({ Entries = [] }: Input): unknown {
  return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const action = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? '';
    const run = ACTIONS[action];
    const answer = JSON.stringify(
      run?.(JSON.parse(Buffer.concat(chunks).toString())) ?? {
        __type: 'com.amazonaws.sqs#InvalidAction',
        message: `the stub does not know the action "${action}"`,
      },
    );
    response.writeHead(run === undefined ? 400 : 200, {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(answer),
      'x-amzn-requestid': randomUUID(),
    });
    response.end(answer);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.send?.(url);
});
process.on('message', () => process.send?.(counts));
