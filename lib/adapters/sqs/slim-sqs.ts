import { backoffMs } from '../../async/backoff.ts';
import type { AwsCallOptions, AwsJsonService } from '../../ports/aws-service.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import { type BatchRequest, type BatchResult, sendEntries } from './batch-entries.ts';
import { checkReceivedBodies, withCheckedBodies } from './body-digests.ts';
import type { SqsApi, SqsOperation, SqsOperations } from './sqs-api.ts';

/** Maximum of the pause before failed entries are sent again. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/** SQS by our own client: it loads in a few milliseconds, and a request takes a quarter of the CPU time. */
export function slimSqs(
  service: Pick<AwsJsonService, 'call' | 'close'>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): SqsApi {
  function callBatch(operation: SqsOperation, input: BatchRequest, options: AwsCallOptions | undefined) {
    return sendEntries(
      input.Entries,
      (Entries) => service.call<BatchResult>(operation, { ...input, Entries }, options),
      (attempts) => clock.sleep(backoffMs(FIRST_PAUSE_MS, attempts, MAX_PAUSE_MS, random)),
    );
  }

  async function call(operation: SqsOperation, input: object, options?: AwsCallOptions): Promise<object> {
    if (operation === 'SendMessageBatch') {
      const { Entries = [] } = input as SqsOperations['SendMessageBatch'][0];
      return withCheckedBodies(Entries, await callBatch(operation, { ...input, Entries }, options));
    }
    if ('Entries' in input) return callBatch(operation, input as BatchRequest, options);
    const output = await service.call<object>(operation, input, options);
    if (operation === 'ReceiveMessage')
      checkReceivedBodies((output as SqsOperations['ReceiveMessage'][1]).Messages ?? []);
    return output;
  }

  return { call: call as SqsApi['call'], close: service.close };
}
