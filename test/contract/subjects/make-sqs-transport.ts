import { sqsClient } from '../../../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../../../lib/adapters/sqs/sqs-transport.ts';
import type { Transport } from '../../../lib/ports/transport.ts';
import type { MakerModule } from '../contract-subject.ts';

export const makeTransport: MakerModule['makeTransport'] = ({ endpoint, visibilityMs, waitMs }): Transport =>
  sqsTransport({
    client: sqsClient({ endpoint: String(endpoint), region: 'us-east-1' }, {}),
    visibilitySeconds: visibilityMs / 1000,
    waitSeconds: waitMs / 1000,
  });
