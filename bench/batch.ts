import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { handleBatch } from '../lib/assembly/hosts/handle-batch.ts';
import type { Transport } from '../lib/ports/transport.ts';
import { runContest } from './measure.ts';
import { envelopeOf, PAYLOADS } from './payloads.ts';
import type { Row } from './report.ts';
import { ECHO, lineTo } from './subjects/router.ts';

const BATCHES = 100;
const BATCH_SIZE = 10;

/** A Lambda batch: decodes, routes and sends each record, and returns a partial batch response. */
export async function benchBatch(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [kind, bytes] of [
    ['text', 1024],
    ['records', 1024],
    ['text', 65_536],
  ] as const) {
    const body = envelopeOf(PAYLOADS[kind](bytes));
    const records = Array.from({ length: BATCH_SIZE }, (_, index) => recordOf(body, index));
    const line = lineTo(ECHO);
    const host = { line, transport: {} as Transport, concurrency: BATCH_SIZE, timeLeftMs: () => 900_000 };
    const result = await runContest({
      name: `batch of ${BATCH_SIZE}, ${bytes / 1024} KB of ${kind}`,
      units: BATCHES * BATCH_SIZE,
      rounds: 21,
      subject: async () => {
        for (let batch = 0; batch < BATCHES; batch++) {
          const { batchItemFailures } = await handleBatch(records, host);
          if (batchItemFailures.length > 0) throw new Error('a record failed');
        }
      },
      peer: async () => {
        for (let batch = 0; batch < BATCHES; batch++) await withPowertools({ Records: records });
      },
    });
    rows.push({
      group: "router / Powertools' BatchProcessor",
      ...result,
      ...(kind === 'text' ? { atMost: 1.0 } : {}),
    });
  }
  return rows;
}

const sent: string[] = [];

/** The same parsing and routing, written with Powertools. */
async function withPowertools(event: SQSEvent): Promise<unknown> {
  const processor = new BatchProcessor(EventType.SQS);
  sent.length = 0;
  return processPartialResponse(
    event,
    async (record: SQSRecord) => {
      const envelope = JSON.parse(record.body);
      const { prev, curr, next } = envelope.route;
      const status = {
        ...envelope.status,
        phase: 'pending',
        actor: curr,
        updated_at: new Date().toISOString(),
      };
      const route = { prev: [...prev, curr], curr: next[0] ?? '', next: next.slice(1) };
      sent.push(JSON.stringify({ ...envelope, route, status }));
    },
    processor,
    { context: {} as Context },
  );
}

function recordOf(body: string, index: number): SQSRecord {
  return {
    messageId: `m-${index}`,
    receiptHandle: `r-${index}`,
    body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 's',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:score',
    awsRegion: 'us-east-1',
  };
}
