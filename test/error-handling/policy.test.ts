import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, settingsFromEnvironment } from '../../lib/error-handling/policy.ts';

function mistakesIn(environment: Readonly<Record<string, string>>): readonly string[] {
  const read = settingsFromEnvironment(environment);
  return 'mistakes' in read ? read.mistakes.map(({ place, problem }) => `${place} ${problem}`) : [];
}

describe('the settings', () => {
  it('have defaults for variables that are not set', () => {
    expect(settingsFromEnvironment({ PATH: '/bin' })).toEqual({ settings: DEFAULT_SETTINGS });
    expect(DEFAULT_SETTINGS).toEqual({
      delaysSeconds: [1, 1, 2, 3, 7, 30],
      expireAfterHours: 36,
      errorsTopic: 'sending-mg-errors',
    });
  });

  it('have defaults for variables that are empty', () => {
    const empty = { RETRY_MESSAGE_DELAYS_SECONDS: '', EXPIRED_MESSAGE_AFTER_HOURS: '', ERRORS_TOPIC: '' };
    expect(settingsFromEnvironment(empty)).toEqual({ settings: DEFAULT_SETTINGS });
  });

  it.each(['[5, 0.5]', '5,0.5', ' [5,0.5] '])('read delays written as %j', (delays) => {
    expect(
      settingsFromEnvironment({
        RETRY_MESSAGE_DELAYS_SECONDS: delays,
        EXPIRED_MESSAGE_AFTER_HOURS: '0.25',
        ERRORS_TOPIC: 'projects/p/topics/errors',
      }),
    ).toEqual({
      settings: { delaysSeconds: [5, 0.5], expireAfterHours: 0.25, errorsTopic: 'projects/p/topics/errors' },
    });
  });

  it('accept an empty list of delays: no retries', () => {
    expect(settingsFromEnvironment({ RETRY_MESSAGE_DELAYS_SECONDS: '[]' })).toMatchObject({
      settings: { delaysSeconds: [] },
    });
  });

  it.each([
    [
      'RETRY_MESSAGE_DELAYS_SECONDS',
      '1s',
      'is "1s"; expected a list of seconds such as [1,1,2,3,7,30], or [] for no retries',
    ],
    ['RETRY_MESSAGE_DELAYS_SECONDS', ' ', 'is " "; expected a list of seconds such as'],
    [
      'RETRY_MESSAGE_DELAYS_SECONDS',
      '{"a":1}',
      '[0] is {"a":1}, expected seconds from 0 to 2592000 (30 days)',
    ],
    ['RETRY_MESSAGE_DELAYS_SECONDS', '[1,"2"]', '[1] is "2", expected seconds from 0 to 2592000 (30 days)'],
    ['RETRY_MESSAGE_DELAYS_SECONDS', '[-1]', '[0] is -1, expected seconds from 0 to 2592000 (30 days)'],
    [
      'RETRY_MESSAGE_DELAYS_SECONDS',
      '[2592001]',
      '[0] is 2592001, expected seconds from 0 to 2592000 (30 days)',
    ],
    ['EXPIRED_MESSAGE_AFTER_HOURS', '0', 'is "0"; expected hours above 0 such as 36 or 0.5'],
    ['EXPIRED_MESSAGE_AFTER_HOURS', '36h', 'is "36h"; expected hours above 0'],
    ['EXPIRED_MESSAGE_AFTER_HOURS', '1000001', 'at most 1000000'],
    [
      'ERRORS_TOPIC',
      'my errors',
      'is "my errors"; expected the name of a topic, such as "sending-mg-errors"',
    ],
  ])('reject %s=%j', (name, value, message) => {
    const [mistake, ...others] = mistakesIn({ [name]: value });
    expect(mistake).toContain(name);
    expect(mistake).toContain(message);
    expect(others).toEqual([]);
  });

  it('report all mistakes at once', () => {
    expect(
      mistakesIn({
        RETRY_MESSAGE_DELAYS_SECONDS: '[1,-2,"x"]',
        EXPIRED_MESSAGE_AFTER_HOURS: 'soon',
        ERRORS_TOPIC: 'my errors',
      }),
    ).toHaveLength(4);
  });
});
