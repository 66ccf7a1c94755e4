import { asNormal, httpError, topicPublishError } from '../../lib/error-handling/errors.ts';
import { settingsFromEnvironment } from '../../lib/error-handling/policy.ts';
import { withErrorHandling } from '../../lib/error-handling/with-error-handling.ts';
import { fakeBroker, type Message } from './fake-broker.ts';

let callsToWarehouse = 0;

/** Handles an order. Some orders cause errors of a downstream service. */
function handleOrder({ data }: Message): string {
  if (data === 'busy' && ++callsToWarehouse <= 3) throw httpError(503, 'the warehouse is down');
  if (data === 'gone') throw httpError(404, 'unknown order');
  if (data === 'bad') throw httpError(400, 'not an order');
  if (data === 'stuck') throw topicPublishError('invoices');
  if (data === 'late') throw asNormal(httpError(429, 'not yet'));
  return `${data} is done`;
}

const broker = fakeBroker(['fine', 'busy', 'gone', 'bad', 'stuck', 'late']);
const { publish, clock, onFact } = broker;

// The five lines. With Pub/Sub: publish is `(topic, message) => pubsub.topic(topic).publishMessage(message)`, clock is
// `Date`, and the last line is `subscription.on('message', async (message) => message[(await consume(message)).settle]())`.
const read = settingsFromEnvironment(process.env);
if ('mistakes' in read)
  throw new Error(read.mistakes.map(({ place, problem }) => `${place}: ${problem}`).join('\n'));
const consume = withErrorHandling(handleOrder, { ...read, topic: 'orders', publish, clock, onFact });
await broker.deliver(async (message) => message[(await consume(message)).settle]());

broker.printErrors();
