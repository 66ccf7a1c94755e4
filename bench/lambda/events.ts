import type { SQSEvent } from 'aws-lambda';
import { envelopeOf, PAYLOADS } from '../payloads.ts';

let nextId = 0;

/** The number of envelopes in all events so far. */
export const envelopesSoFar = (): number => nextId;

/** An event of SQS with envelopes for this actor, each with another id, 1 KB of text as payload, and a task. */
export function eventFor(actor: string, records: number): SQSEvent {
  return {
    Records: Array.from({ length: records }, () => {
      const id = `e-${nextId++}`;
      const { route, headers, ...envelope } = JSON.parse(envelopeOf(PAYLOADS.text(1024), id));
      const body = JSON.stringify({
        ...envelope,
        route: { ...route, curr: actor },
        headers: { ...headers, 'x-asya-task': id },
      });
      return {
        messageId: `m-${id}`,
        receiptHandle: `r-${id}`,
        body,
        attributes: {
          ApproximateReceiveCount: '1',
          SentTimestamp: String(Date.now()),
          SenderId: 'sender',
          ApproximateFirstReceiveTimestamp: String(Date.now()),
        },
        messageAttributes: {},
        md5OfBody: '',
        eventSource: 'aws:sqs',
        eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:asya-dev-bench-${actor}`,
        awsRegion: 'us-east-1',
      };
    }),
  };
}
