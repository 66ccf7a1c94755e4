import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import { slimSqsTransport } from '../../../lib/adapters/sqs/slim-sqs-transport.ts';
import { systemClock, systemRandom } from '../../../lib/adapters/system/system.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import type { MakerModule } from '../contract-subject.ts';

export const makeTransport: MakerModule['makeTransport'] = ({
  endpoint,
  account,
  visibilityMs,
  waitMs,
}): Transport => {
  const [clock, random] = [systemClock, systemRandom];
  const access = { endpoint: String(endpoint), region: 'us-east-1', env: {}, clock, random };
  const service = awsJsonService('sqs', { ...access, http: httpClient() });
  service.connect();
  return slimSqsTransport({
    service,
    clock,
    random,
    account: String(account),
    visibilitySeconds: visibilityMs / 1000,
    waitSeconds: waitMs / 1000,
  });
};
