import { actorName, listOf, oneOf, text, url } from '../kinds.ts';
import { optional, setting } from '../setting.ts';

/** In the configuration: `storage`. */
export const STORAGE = {
  bucket: optional('ASYA_ARCHIVE_BUCKET', text, {
    about:
      'S3 bucket in which x-sink and x-dlq store whole envelopes. Required by the crew, `asya failures` and `asya replay`; x-sink, x-sump and x-dlq without storage are ordinary end actors.',
    unset: 'none',
  }),
  kmsKey: optional('ASYA_ARCHIVE_KMS_KEY', text, {
    about: 'KMS key that encrypts the archive.',
    unset: 'S3-managed keys',
  }),
  table: optional('ASYA_FAILURE_TABLE', text, {
    about:
      'DynamoDB table of ended envelopes and failures. Required by the crew, `asya failures` and `asya replay`.',
    unset: 'none',
  }),
  s3Endpoint: optional('ASYA_S3_ENDPOINT', url('http', 'https'), {
    about: 'Custom S3 endpoint, such as a local emulator.',
    unset: 'the endpoint of the region',
  }),
  dynamoDbEndpoint: optional('ASYA_DYNAMODB_ENDPOINT', url('http', 'https'), {
    about: 'Custom DynamoDB endpoint, such as a local emulator.',
    unset: 'the endpoint of the region',
  }),
};

/** In the configuration: at the top level. */
export const CREW = {
  sump: setting('ASYA_ACTOR_SUMP', actorName, {
    about: 'Actor to which x-sink forwards failed envelopes. Read by x-sink only.',
    default: 'x-sump',
  }),
  archives: optional('ASYA_ARCHIVE', oneOf('all', 'failed'), {
    about:
      'Envelopes that x-sink archives. `failed`: those that succeeded only get an end record, except for the results of tasks at the gateway. Read by x-sink only.',
    unset: '`all`',
  }),
  deadLettersOf: setting('ASYA_DEAD_LETTERS_OF', listOf(actorName), {
    about:
      'Actors whose dead-letter queues x-dlq drains. Read by x-dlq only, when it runs as a long-running worker.',
    default: '',
  }),
};
