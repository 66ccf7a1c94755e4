import { describe, expect, it } from 'vitest';
import { defaultVisibilitySeconds } from '../../../lib/config/settings/groups/sqs.ts';
import { configOf, refusalOf } from '../an-environment.ts';

const TIMEOUT = 'ASYA_RESILIENCY_ACTOR_TIMEOUT';
const VISIBILITY = 'ASYA_SQS_VISIBILITY_TIMEOUT';

describe('the visibility timeout', () => {
  it.each([
    ['5m', 600],
    ['10s', 20],
    ['1s', 2],
    ['500ms', 1],
    ['501ms', 2],
    ['1ms', 1],
    ['6h', 43_200],
    ['7h', 43_200],
    ['11h59m59s999ms', 43_200],
  ])('is twice a timeout of %s, up to the limit of the broker: %d s', (timeout, seconds) => {
    expect(configOf({ [TIMEOUT]: timeout }).sqs.visibilitySeconds).toBe(seconds);
  });

  it.each([
    ['10s', '11', 11],
    ['9s999ms', '10', 10],
    ['11h59m59s', '43200', 43_200],
  ])('can be set: timeout %s, visibility %s', (timeout, visibility, seconds) => {
    expect(configOf({ [TIMEOUT]: timeout, [VISIBILITY]: visibility }).sqs.visibilitySeconds).toBe(seconds);
  });

  it.each([
    ['10s', '9', '10s'],
    ['10s', '10', '10s'],
    ['10s1ms', '10', '10s1ms'],
    ['1h30m', '60', '1h30m'],
    ['12h', '43200', '12h'],
  ])('must be longer than the timeout: %s and %s', (timeout, visibility, shown) => {
    expect(refusalOf({ [TIMEOUT]: timeout, [VISIBILITY]: visibility })).toEqual([
      `${VISIBILITY}: is ${visibility} seconds; it must be longer than ${TIMEOUT} (${shown}), ideally twice as long`,
    ]);
  });

  it('must be longer than the default timeout', () => {
    expect(refusalOf({ [VISIBILITY]: '300' })).toEqual([
      `${VISIBILITY}: is 300 seconds; it must be longer than ${TIMEOUT} (5m), ideally twice as long`,
    ]);
    expect(refusalOf({ [VISIBILITY]: '301' })).toEqual([]);
  });

  it.each(['12h', '12h1s'])('cannot be longer than a timeout of %s', (timeout) => {
    expect(refusalOf({ [TIMEOUT]: timeout })).toEqual([
      `${TIMEOUT}: is ${timeout}; expected less than 12h, the maximum visibility timeout of SQS`,
    ]);
  });

  it('is not checked for other brokers', () => {
    expect(refusalOf({ [TIMEOUT]: '13h', ASYA_RABBITMQ_URL: 'amqp://rabbit/' })).toEqual([]);
  });

  it('is rounded up to whole seconds', () => {
    expect([0, 1, 500, 501, 21_600_000, 21_600_001].map(defaultVisibilitySeconds)).toEqual([
      0, 1, 1, 2, 43_200, 43_200,
    ]);
  });
});
