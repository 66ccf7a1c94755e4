import { expect, it } from 'vitest';
import { consumerTimeoutWarning } from '../../../lib/adapters/rabbitmq/consumer-timeout.ts';

const MINUTE_MS = 60_000;

it.each([
  ['a call of the default length', 5, 1, 1],
  ['a call as long as the consumer timeout', 30, 1, 1],
  ['as many concurrent calls as held deliveries', 30, 8, 8],
  ['a delivery that waits for another one, within the consumer timeout', 15, 1, 2],
])('does not warn about %s', (_, minutes, concurrency, prefetch) => {
  const settings = { actorTimeoutMs: minutes * MINUTE_MS, concurrency, prefetch };
  expect(consumerTimeoutWarning(settings)).toBeUndefined();
});

it('warns about a longer call, with the setting and its value', () => {
  const warning = consumerTimeoutWarning({ actorTimeoutMs: 31 * MINUTE_MS, concurrency: 1, prefetch: 1 });
  expect(warning).toMatch(/ASYA_RESILIENCY_ACTOR_TIMEOUT is 1860 s/);
  expect(warning).toMatch(/consumer_timeout in rabbitmq\.conf above 1860000/);
});

it('warns about a delivery that waits for others longer than the consumer timeout', () => {
  const warning = consumerTimeoutWarning({ actorTimeoutMs: 16 * MINUTE_MS, concurrency: 1, prefetch: 2 });
  expect(warning).toMatch(/held for 1920 s.*ASYA_RABBITMQ_PREFETCH 2/);
});
