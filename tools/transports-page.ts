import { PUBSUB_RECORD } from '../lib/adapters/pubsub/pubsub-features.ts';
import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { SQS_RECORD } from '../lib/adapters/sqs/sqs-features.ts';
import type { TransportFeatures, TransportRecord } from '../lib/ports/transport-features.ts';

const HEAD = `# Transports

An envelope travels over SQS, Pub/Sub or RabbitMQ; \`ASYA_TRANSPORT\` says which, and where only one broker's address is
set, that one is meant ([configuration.md](configuration.md)). Nothing else of a mesh changes: the same policies, fates
and metrics, at least once, in no particular order. What a broker cannot do is in this table, and nowhere a surprise.

This page is made from the features records beside the adapters (\`lib/adapters/*/*-features.ts\`) by \`npm run docs\`, and
\`npm run test:transports\` tries every transport against one contract by the same records.
`;

const TAIL = `
A body that is too big for its transport is a failed send: the envelope goes to x-sink as \`PayloadTooLarge\`, with the
payload that came. A delay that is longer than one send can do is done in several, with the header \`x-asya-not-before\`.
A retry that cannot be delayed, because the transport cannot or its body is too big for that, ends at x-sink as
\`RuntimeError\`.

Delays on Pub/Sub go through the delayer (\`functions/pubsub-delayer\`), a service of its own that has to run beside the
mesh; without it they are refused.

## What the contract says

\`npm run test:transports\` prints a table of laws and transports, each \`holds\`, \`BROKEN\` or skipped for a reason that
stands below it. It starts what it needs on this machine (the embedded SQS, RabbitMQ, Google's Pub/Sub emulator, moto);
what cannot be had is left out, and the reason printed. Words after \`--\` choose: \`npm run test:transports -- memory\`.

A transport of your own is held to it by a subject, a record of what it can do and of how to start its broker
(\`test/contract/contract-subject.ts\`), and one line: \`transportContract(subject)\`.
`;

const WORDS: Readonly<Record<keyof TransportFeatures, string>> = {
  delays: 'sends with a delay, and so retries that wait',
  hidesForATime: 'what nobody settles comes again after a time',
  countsReceives: 'counts how often a message was delivered',
  deadLetters: 'what failed too often goes to the dead-letter queue, for x-dlq',
  limitsBodies: 'refuses a body that is too big',
  batchesSends: 'sends in batches',
  settlesAfterReconnect: 'a delivery outlives the connection it came over',
  tellsMissingQueues: 'tells a missing queue from other trouble, and heals when it is there',
  createsQueues: 'creates queues (`ASYA_QUEUE_AUTO_CREATE=true`), with their dead-letter queues',
};

const TRANSPORTS: readonly TransportRecord[] = [
  SQS_RECORD,
  PUBSUB_RECORD,
  RABBITMQ_RECORD,
  RABBITMQ_TTL_RECORD,
];

export function transportsPage(): string {
  const reasons: string[] = [];
  const cell = (record: TransportRecord, feature: keyof TransportFeatures): string => {
    const ability = record.features[feature];
    if (ability === 'yes') return 'yes';
    if (!reasons.includes(ability.no)) reasons.push(ability.no);
    return `no [${reasons.indexOf(ability.no) + 1}]`;
  };
  const features = (Object.keys(WORDS) as (keyof TransportFeatures)[]).map((feature) => [
    WORDS[feature],
    ...TRANSPORTS.map((record) => cell(record, feature)),
  ]);
  const limits = [
    ['largest body', ...TRANSPORTS.map(({ limits: { maxBodyBytes } }) => bytesText(maxBodyBytes))],
    ['largest body of a send with a delay', ...TRANSPORTS.map(({ limits: one }) => delayedBytesText(one))],
    ['longest delay of one send', ...TRANSPORTS.map(({ limits: { maxDelayMs } }) => delayText(maxDelayMs))],
    ['sends in one request', ...TRANSPORTS.map(({ limits: { maxBatch } }) => String(maxBatch))],
  ];
  return [
    HEAD,
    '## What each can do\n',
    table(features),
    '',
    ...reasons.map((reason, index) => `${index + 1}. ${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`),
    '\n## Limits\n',
    table(limits),
    TAIL,
  ].join('\n');
}

function table(rows: readonly (readonly string[])[]): string {
  const head = ['', ...TRANSPORTS.map(({ name }) => name)];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** In the unit that it is a whole number of. */
function bytesText(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes / 1e6} MB`;
}

function delayedBytesText({
  maxDelayMs,
  maxBodyBytes,
  maxDelayedBodyBytes,
}: TransportRecord['limits']): string {
  return maxDelayMs === 0 ? 'none' : bytesText(maxDelayedBodyBytes ?? maxBodyBytes);
}

function delayText(ms: number): string {
  if (ms === 0) return 'none';
  const days = Math.floor(ms / 86_400_000);
  return days > 0 ? `${days} ${days === 1 ? 'day' : 'days'}` : `${ms / 1000} s`;
}
