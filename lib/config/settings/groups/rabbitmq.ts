import { oneOf, text, urlWithPassword, wholeNumber } from '../kinds.ts';
import { setting } from '../setting.ts';
import { transportSettings } from '../transport-settings.ts';

/** In the configuration: `rabbitmq`. */
export const RABBITMQ = transportSettings({
  title: 'RabbitMQ',
  settings: {
    url: setting('ASYA_RABBITMQ_URL', urlWithPassword('amqp', 'amqps'), {
      about: 'URL of the broker.',
      default: 'amqp://guest:guest@localhost:5672/',
    }),
    exchange: setting('ASYA_RABBITMQ_EXCHANGE', text, { about: 'Topic exchange.', default: 'asya' }),
    prefetch: setting('ASYA_RABBITMQ_PREFETCH', wholeNumber(1, 65_535), {
      about:
        'How many deliveries the sidecar holds at the same time, including those in progress. At least `ASYA_CONCURRENCY`.',
      default: '1',
    }),
    delay: setting('ASYA_RABBITMQ_DELAY', oneOf('none', 'ttl'), {
      about:
        '`ttl`: delays through queues whose messages expire. `none`: no delays; a delayed retry goes to x-sink instead.',
      default: 'none',
    }),
  },
  selectedBy: 'ASYA_RABBITMQ_URL',
  complete: (read) => read,
});
