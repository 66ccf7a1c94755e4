import { expect, it } from 'vitest';
import { consumerTimeoutWarning } from '../../../lib/adapters/rabbitmq/consumer-timeout.ts';

const MINUTE_MS = 60_000;

it.each([
  ['a call of the default length', 5, 1, 1],
  ['a call as long as the broker waits', 30, 1, 1],
  ['as many at once as are held', 30, 8, 8],
  ['a second one that waits for the first', 15, 1, 2],
])('%s is none to warn of', (_, minutes, concurrency, prefetch) => {
  const hold = { actorTimeoutMs: minutes * MINUTE_MS, concurrency, prefetch };
  expect(consumerTimeoutWarning(hold)).toBeUndefined();
});

it('a longer call is, with what to set and to what', () => {
  const words = consumerTimeoutWarning({ actorTimeoutMs: 31 * MINUTE_MS, concurrency: 1, prefetch: 1 });
  expect(words).toMatch(/ASYA_RESILIENCY_ACTOR_TIMEOUT is 1860 s/);
  expect(words).toMatch(/consumer_timeout in rabbitmq\.conf above 1860000/);
});

it('so is one that waits here for longer than the broker does', () => {
  const words = consumerTimeoutWarning({ actorTimeoutMs: 16 * MINUTE_MS, concurrency: 1, prefetch: 2 });
  expect(words).toMatch(/held for 1920 s.*ASYA_RABBITMQ_PREFETCH 2/);
});
