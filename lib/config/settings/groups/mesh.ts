import { flag, namespace, oneOf, positiveDuration, wholeNumber } from '../kinds.ts';
import { computed, optional, setting } from '../setting.ts';
import { DEFAULT_TRANSPORT, TRANSPORT_NAMES, TRANSPORTS } from '../transports.ts';

const SELECTED = TRANSPORT_NAMES.filter((name) => name !== DEFAULT_TRANSPORT).map(
  (name) => `\`${name}\` if only \`${TRANSPORTS[name].selectedBy}\` is set`,
);

/** In the configuration: at the top level. */
export const MESH = {
  namespace: optional('ASYA_NAMESPACE', namespace, {
    about: 'Namespace of the queues. With it, the name of a queue is `asya-{namespace}-{actor}`.',
    unset: 'the name of a queue is `{actor}`',
  }),
  transport: computed('ASYA_TRANSPORT', oneOf(...TRANSPORT_NAMES), {
    about: 'The message broker.',
    default: `${SELECTED.join(', ')}, otherwise \`${DEFAULT_TRANSPORT}\``,
  }),
};

/** In the configuration: `queues`. */
export const QUEUES = {
  retryMaxAttempts: setting('ASYA_QUEUE_RETRY_MAX_ATTEMPTS', wholeNumber(1), {
    about:
      'How many times the sidecar looks for a missing queue, or tries to create it with `ASYA_QUEUE_AUTO_CREATE`, before it gives up.',
    default: '10',
  }),
  retryBackoffMs: setting('ASYA_QUEUE_RETRY_BACKOFF', positiveDuration, {
    about: 'Pause before the second attempt. It doubles with every attempt.',
    default: '1s',
  }),
  autoCreate: setting('ASYA_QUEUE_AUTO_CREATE', flag, {
    about:
      'Creates missing queues with their dead-letter queues: its own, and those that it sends to. An existing queue is checked every 5 minutes; attributes that differ are logged.',
    default: 'false',
  }),
};
