import { makeTransport, type TransportMaker, type TransportTimes } from './contract-subject.ts';

/** Uses every method of a transport and closes it. The process then ends unless the transport keeps it running. */
const { maker, queue, times } = JSON.parse(process.argv[2] ?? '{}') as {
  readonly maker: TransportMaker;
  readonly queue: string;
  readonly times: TransportTimes;
};

const transport = await makeTransport(maker, times);
const never = new AbortController().signal;
await transport.ensureQueue(queue);
await Promise.all([transport.send(queue, '1'), transport.send(queue, '2')]);
const receipt = await transport.receive(queue, transport.traits.maxBatch, never);
if (!receipt.ok || receipt.deliveries.length === 0)
  throw new Error(`received nothing: ${JSON.stringify(receipt)}`);
const [first, ...others] = receipt.deliveries;
if (first !== undefined) await transport.extend(first);
await Promise.all(receipt.deliveries.slice(0, 1).map((delivery) => transport.ack(delivery)));
await Promise.all(others.map((delivery) => transport.nack(delivery, 60_000)));
const stop = new AbortController();
const polling = transport.receive(queue, 1, stop.signal);
setTimeout(() => stop.abort(), 100);
await polling;
// A send in progress while the transport closes.
transport.send(queue, '3');
await transport.close();
process.stdout.write(`closed, with ${process.getActiveResourcesInfo().join(' ')} left\n`);
