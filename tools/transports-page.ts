import { PUBSUB_RECORD } from '../lib/adapters/pubsub/pubsub-features.ts';
import { RABBITMQ_RECORD, RABBITMQ_TTL_RECORD } from '../lib/adapters/rabbitmq/rabbitmq-features.ts';
import { SQS_RECORD } from '../lib/adapters/sqs/sqs-features.ts';
import type { TransportFeatures, TransportRecord } from '../lib/ports/transport-features.ts';

const HEAD = `# Transports

After reading this page you can choose a transport for your mesh, SQS, Pub/Sub or RabbitMQ, and know what it supports.

\`\`\`sh
ASYA_TRANSPORT=rabbitmq ASYA_RABBITMQ_URL=amqp://user:password@rabbitmq:5672/ ASYA_ACTOR_NAME=score npx asya sidecar
\`\`\`

\`ASYA_TRANSPORT\` selects the transport. If the settings of only one broker are present, that broker is the default (see
[configuration](configuration.md)). Everything else is the same on every transport: policies, outcomes and metrics,
at-least-once delivery, no guaranteed order. The tables show all differences.

\`npm run docs\` generates this page from the features records of the adapters (\`*-features.ts\`). The
[contract suite](#contract-suite) tests every transport against the same records.
`;

const TAIL = `
- If a result is too large for the transport, the envelope fails with the error type \`PayloadTooLarge\`, with its original
  payload.
- A delay that is longer than one send allows is split into several sends, with the header \`x-asya-not-before\`.
- If a retry cannot be delayed, because the transport has no delays or the body is too large for them, the envelope goes
  to x-sink as \`RuntimeError\`.
- Delays on Pub/Sub need [the delayer](pubsub-delayer.md), a separate service. Without it delayed sends are refused.

## The SQS client on Lambda

Functions on Lambda send with \`slim\`, a client of SQS that is part of this project. Its code loads in 1 ms instead of 30, and a
request takes a quarter to a third of the CPU time of the AWS SDK's. Workers, commands and the local mesh use the AWS SDK.
Both pass the same contract suite and sign requests identically.

To use the AWS SDK on Lambda too, set \`"sqsClient": "sdk"\` in the [environment](deploy.md#environments) in
\`cdk.json\`, or \`sqsClient: 'sdk'\` of the CDK construct \`ActorMesh\`, and deploy. Functions then have
\`ASYA_SQS_CLIENT=sdk\` and contain the SDK.

| | The client on Lambda |
|---|---|
| URLs of queues | built from the account (\`ASYA_SQS_ACCOUNT\`, set by the deployment), the region and the name, without \`GetQueueUrl\` |
| credentials | \`AWS_ACCESS_KEY_ID\`, \`AWS_SECRET_ACCESS_KEY\` and \`AWS_SESSION_TOKEN\`, read for each request |
| endpoint | \`ASYA_SQS_ENDPOINT\`, then \`AWS_ENDPOINT_URL_SQS\`, then \`AWS_ENDPOINT_URL\` (unless \`AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true\`), then the regional endpoint, in any partition; \`AWS_USE_FIPS_ENDPOINT\` and \`AWS_USE_DUALSTACK_ENDPOINT\` |
| attempts | 3, or \`AWS_MAX_ATTEMPTS\`, with growing random pauses, after throttling, errors of the service and lost connections; entries of a batch that failed are sent again on their own, unless SQS says that the sender is at fault |
| timeouts | those of the AWS SDK's client: 5 s to connect, 15 s to answer, more for large batches |
| connections | opened before the first event and kept; one that was closed while the function was frozen is replaced at once; if one gives no answer, the idle ones are closed too, and the next attempt opens a new connection |
| clock | corrected when SQS refuses a signature because of its time |
| bodies | checked with the MD5 digest of every entry |
| proxies | none, like the AWS SDK: both ignore \`HTTPS_PROXY\` and \`NODE_USE_ENV_PROXY\` |

Secrets (Secrets Manager, Systems Manager) and the handler's role (STS) are requested with the same signer on Lambda, and
with the AWS SDK on other hosts.

## Contract suite

\`\`\`sh
npm run test:transports             # all transports
npm run test:transports -- memory   # only test files that match a word
\`\`\`

The suite prints a table of laws and transports. Each cell is \`holds\`, \`BROKEN\`, or skipped with a reason below the
table. The suite starts what it needs on this machine (the embedded SQS, RabbitMQ, Google's Pub/Sub emulator, moto). If a
component is not available, its transport is skipped and the reason is printed.

To test your own transport, write a subject: a record of its features and of how to start its broker
(\`test/contract/contract-subject.ts\`). Then call \`transportContract(subject)\`.

## Next steps

- [Pub/Sub](pubsub.md) and [RabbitMQ](rabbitmq.md): set up these brokers
- [Deploy](deploy.md): deploy a mesh on SQS and Lambda
`;

const LABELS: Readonly<Record<keyof TransportFeatures, string>> = {
  delays: 'delayed sends, which retries with a delay need',
  redeliversAfterTimeout: 'redelivers an unsettled delivery after its visibility timeout',
  countsReceives: 'counts the deliveries of a message',
  deadLetters: 'moves messages that failed too often to the dead-letter queue, for x-dlq',
  refusesLargeBodies: 'refuses a body that is too large',
  batchesSends: 'sends in batches',
  settlesAfterReconnect: 'a delivery can be settled after a reconnect',
  reportsMissingQueues: 'reports a missing queue as such, and recovers once it exists',
  createsQueues: 'creates queues and their dead-letter queues (`ASYA_QUEUE_AUTO_CREATE=true`)',
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
  const features = (Object.keys(LABELS) as (keyof TransportFeatures)[]).map((feature) => [
    LABELS[feature],
    ...TRANSPORTS.map((record) => cell(record, feature)),
  ]);
  const limits = [
    ['maximum body size', ...TRANSPORTS.map(({ limits: { maxBodyBytes } }) => bytesText(maxBodyBytes))],
    ['maximum body size of a delayed send', ...TRANSPORTS.map(({ limits: one }) => delayedBytesText(one))],
    ['maximum delay of one send', ...TRANSPORTS.map(({ limits: { maxDelayMs } }) => delayText(maxDelayMs))],
    ['maximum sends per request', ...TRANSPORTS.map(({ limits: { maxBatch } }) => String(maxBatch))],
  ];
  return [
    HEAD,
    '## Features\n',
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

/** In MiB if that is a whole number, otherwise in MB. */
function bytesText(bytes: number): string {
  const mebibytes = bytes / 1024 ** 2;
  return Number.isInteger(mebibytes) ? `${mebibytes} MiB` : `${bytes / 1e6} MB`;
}

function delayedBytesText({
  maxDelayMs,
  maxBodyBytes,
  maxDelayedBodyBytes,
}: TransportRecord['limits']): string {
  return maxDelayMs === 0 ? 'not supported' : bytesText(maxDelayedBodyBytes ?? maxBodyBytes);
}

function delayText(ms: number): string {
  if (ms === 0) return 'not supported';
  const days = Math.floor(ms / 86_400_000);
  return days > 0 ? `${days} ${days === 1 ? 'day' : 'days'}` : `${ms / 1000} s`;
}
