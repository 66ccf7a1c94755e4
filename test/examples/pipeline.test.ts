import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXAMPLES } from './example-mesh.ts';

function run(environment: Readonly<Record<string, string>> = {}): string {
  return execFileSync(process.execPath, [join(EXAMPLES, 'pipeline/consumer.ts')], {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
    stdio: 'pipe',
  });
}

describe('the pipeline example', () => {
  it('shows every outcome of a message', () => {
    const lines = run().trim().split('\n');
    const facts = lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line.slice(15)));
    expect(new Set(facts.map(({ fact, reason }) => [fact, reason].filter(Boolean).join(' ')))).toEqual(
      new Set([
        'success',
        'retried',
        'dropped permanent',
        'escalated escalated',
        'escalated expired',
        'dropped expired',
      ]),
    );
    expect(lines.slice(-2)).toEqual([
      'in the errors topic: bad: escalated, HttpError after 0 retries',
      'in the errors topic: stuck: expired, TopicPublishError after 6 retries',
    ]);
  });

  it('has the same outcomes with the other schedule of its README', () => {
    expect(run({ RETRY_MESSAGE_DELAYS_SECONDS: '[5,60]' }).trim().split('\n').slice(-3)).toEqual([
      expect.stringMatching(/^\d+ retries in all$/),
      'in the errors topic: bad: escalated, HttpError after 0 retries',
      'in the errors topic: stuck: expired, TopicPublishError after 2 retries',
    ]);
  });

  it('reports every mistake in its settings', () => {
    const wrong = { RETRY_MESSAGE_DELAYS_SECONDS: '1s', EXPIRED_MESSAGE_AFTER_HOURS: '0' };
    expect(() => run(wrong)).toThrow(/RETRY_MESSAGE_DELAYS_SECONDS: [\s\S]+EXPIRED_MESSAGE_AFTER_HOURS: /);
  });
});
