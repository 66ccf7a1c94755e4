import { durationText } from '../../../core/text/duration.ts';
import { hasMistake } from '../group.ts';
import { accountId, oneOf, text, url, wholeNumber } from '../kinds.ts';
import { deadLetterQueueName, MAX_QUEUE_NAME, queueName } from '../queue-name.ts';
import { computed, optional, setting } from '../setting.ts';
import { type TransportContext, transportSettings } from '../transport-settings.ts';
import { RESILIENCY } from './resiliency.ts';

/** SQS hides a delivery for at most twelve hours. */
export const MAX_VISIBILITY_SECONDS = 43_200;

/** In the configuration: `sqs`. */
export const SQS = transportSettings({
  title: 'SQS',
  settings: {
    endpoint: optional('ASYA_SQS_ENDPOINT', url('http', 'https'), {
      about: 'Custom SQS endpoint, such as a local emulator.',
      unset: 'the endpoint of the region',
    }),
    region: computed('ASYA_AWS_REGION', text, {
      about: 'AWS region of SQS, S3 and DynamoDB.',
      default: '`AWS_REGION`, then `us-east-1`',
    }),
    account: optional('ASYA_SQS_ACCOUNT', accountId, {
      about:
        'AWS account of the queues. Functions on Lambda build the URLs of queues from it. The deployment sets it.',
      unset: 'SQS is asked once for the URL of each queue',
    }),
    client: setting('ASYA_SQS_CLIENT', oneOf('slim', 'sdk'), {
      about:
        'Client of functions on Lambda: `slim`, which starts faster, or `sdk`, the AWS SDK, which the bundle contains only if the deployment chooses it (`sqsClient`). Other hosts always use the AWS SDK.',
      default: 'slim',
    }),
    visibilitySeconds: computed('ASYA_SQS_VISIBILITY_TIMEOUT', wholeNumber(1, MAX_VISIBILITY_SECONDS), {
      about: 'Visibility timeout of a delivery in seconds. It must be longer than the actor timeout.',
      default: "twice the actor's timeout",
    }),
    waitSeconds: setting('ASYA_SQS_WAIT_TIME_SECONDS', wholeNumber(0, 20), {
      about: 'How many seconds a poll waits for a message.',
      default: '20',
    }),
  },
  selectedBy: 'ASYA_SQS_ENDPOINT',
  complete: (read, context) => {
    if (context.isSelected) checkQueueName(context);
    return {
      ...read,
      region: read.region ?? (context.env['AWS_REGION'] || 'us-east-1'),
      visibilitySeconds: visibilityFrom(read.visibilitySeconds, context),
    };
  },
  withoutComputed: (values, { timeoutMs }) =>
    values.visibilitySeconds === defaultVisibilitySeconds(timeoutMs)
      ? { ...values, visibilitySeconds: undefined }
      : values,
});

/** Twice the actor's timeout, so that SQS does not redeliver what is still being processed. */
export function defaultVisibilitySeconds(actorTimeoutMs: number): number {
  return Math.min(Math.ceil((actorTimeoutMs * 2) / 1000), MAX_VISIBILITY_SECONDS);
}

/** Must be longer than the actor timeout, or SQS would redeliver what is still being processed. */
function visibilityFrom(seconds: number | undefined, context: TransportContext): number {
  const { actor, isSelected, mistakes } = context;
  const timeout = RESILIENCY.timeoutMs.variable;
  const visibilitySeconds = seconds ?? defaultVisibilitySeconds(actor.timeoutMs);
  const isLongEnough = visibilitySeconds * 1000 > actor.timeoutMs;
  if (isLongEnough || hasMistake(mistakes, timeout) || (seconds === undefined && !isSelected))
    return visibilitySeconds;
  const shownTimeout = durationText(actor.timeoutMs);
  mistakes.push(
    seconds === undefined
      ? {
          place: timeout,
          problem: `is ${shownTimeout}; expected less than 12h, the maximum visibility timeout of SQS`,
        }
      : {
          place: 'ASYA_SQS_VISIBILITY_TIMEOUT',
          problem: `is ${seconds} seconds; it must be longer than ${timeout} (${shownTimeout}), ideally twice as long`,
        },
  );
  return visibilitySeconds;
}

function checkQueueName({ actor, namespace, mistakes }: TransportContext): void {
  const longest = deadLetterQueueName(queueName(actor.name, namespace));
  if (longest.length <= MAX_QUEUE_NAME) return;
  const problem = `makes the queue name "${longest}" ${longest.length} characters long; at most ${MAX_QUEUE_NAME} are allowed`;
  mistakes.push({ place: 'ASYA_NAMESPACE', problem });
}
