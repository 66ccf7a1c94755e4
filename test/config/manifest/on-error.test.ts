import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../lib/config/settings/environment.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { resiliencyInput } from '../../../lib/core/policy/resiliency-input.ts';
import {
  anEnvelope,
  at,
  faultEnd,
  handle,
  resiliencyOf,
  TIMEOUT,
  UNREACHABLE,
} from '../../core/a-delivery.ts';
import { fileOf } from '../an-environment.ts';
import { actorOf } from './a-mesh.ts';

const VALUE_ERROR = faultEnd({ type: 'ValueError' });
const OTHER_ERROR = faultEnd({ type: 'KeyError' });

/** Where an actor with these lines in its resiliency sends an envelope, with the delay and the reason. */
function outcomeOf(lines: readonly string[], end: CallResult, attempt = 1): unknown {
  const { resiliency } = actorOf('resiliency:', ...lines.map((line) => `  ${line}`));
  const status = { phase: 'retrying', actor: 'score', attempt: attempt - 1, created_at: at(-9_000) };
  const envelope = attempt === 1 ? anEnvelope() : anEnvelope({ status });
  const { sends, sent } = handle(envelope, end, { actor: { resiliency } });
  return [sends[0]?.to, sends[0]?.delayMs, sent.status?.['reason']];
}

const RESCUED = ['store', 0, 'PolicyRouted'];
const ON_ERROR = 'onError: store';

describe('onError', () => {
  it.each([
    ['an error that no policy covers', [ON_ERROR], OTHER_ERROR, 1, RESCUED],
    ['a timeout that no policy covers', [ON_ERROR], TIMEOUT, 1, RESCUED],
    [
      'a timeout, which the default policy does not retry',
      [ON_ERROR, 'policies: {default: {maxAttempts: 9}}'],
      TIMEOUT,
      1,
      RESCUED,
    ],
    [
      'a timeout for which a rule has attempts left',
      [ON_ERROR, 'policies: {p: {maxAttempts: 2}}', 'rules: [{errors: [TimeoutError], policy: p}]'],
      TIMEOUT,
      1,
      ['score', 0, undefined],
    ],
    [
      'a timeout for which a rule has no attempts left',
      [ON_ERROR, 'policies: {p: {maxAttempts: 2}}', 'rules: [{errors: [TimeoutError], policy: p}]'],
      TIMEOUT,
      2,
      RESCUED,
    ],
    ['an unreachable runtime, first attempt', [ON_ERROR], UNREACHABLE, 1, ['score', 1_000, undefined]],
    ['an unreachable runtime, fourth attempt', [ON_ERROR], UNREACHABLE, 4, ['score', 8_000, undefined]],
    ['an unreachable runtime, fifth attempt', [ON_ERROR], UNREACHABLE, 5, RESCUED],
    [
      'an unreachable runtime, covered by the default policy',
      [ON_ERROR, 'policies: {default: {}}'],
      UNREACHABLE,
      1,
      RESCUED,
    ],
    [
      'an unreachable runtime, covered by a rule',
      [ON_ERROR, 'rules: [{errors: [ConnectionError], policy: noRetry}]'],
      UNREACHABLE,
      1,
      RESCUED,
    ],
    [
      'the default policy with an attempt left',
      [ON_ERROR, 'policies: {default: {maxAttempts: 2, initialDelay: 3s}}'],
      OTHER_ERROR,
      1,
      ['score', 3_000, undefined],
    ],
    [
      'the default policy without an attempt left',
      [ON_ERROR, 'policies: {default: {maxAttempts: 2}}'],
      OTHER_ERROR,
      2,
      RESCUED,
    ],
    [
      'an error that must not be retried',
      [ON_ERROR, 'rules: [{errors: [ValueError], policy: noRetry}]'],
      VALUE_ERROR,
      1,
      RESCUED,
    ],
    [
      'a policy with its own onExhausted',
      [ON_ERROR, 'policies: {default: {onExhausted: [score]}}'],
      OTHER_ERROR,
      1,
      ['score', 0, 'PolicyRouted'],
    ],
    [
      'a policy that drops',
      [ON_ERROR, 'policies: {default: {onExhausted: {action: drop}}}'],
      OTHER_ERROR,
      1,
      ['x-sink', 0, 'Dropped'],
    ],
    [
      'a policy that escalates',
      [ON_ERROR, 'policies: {default: {onExhausted: {action: escalate, topic: errors}}}'],
      OTHER_ERROR,
      1,
      ['errors', 0, 'Escalated'],
    ],
    [
      'user policies with the names that onError uses',
      [ON_ERROR, 'policies: {connection: {maxAttempts: 7}, onError: {maxAttempts: 7}}'],
      UNREACHABLE,
      5,
      RESCUED,
    ],
  ] as const)('%s', (_what, lines, end, attempt, expected) => {
    expect(outcomeOf(lines, end, attempt)).toEqual(expected);
  });

  it('changes nothing if it is omitted', () => {
    const lines = ['policies: {default: {maxAttempts: 1}}', 'rules: []'];
    expect(actorOf('resiliency:', ...lines.map((line) => `  ${line}`)).resiliency).toEqual(
      resiliencyOf({ default: { maxAttempts: 1 } }),
    );
  });

  it.each([
    [[ON_ERROR]],
    [[ON_ERROR, 'policies: {default: {maxAttempts: 3, jitter: true}}']],
    [[ON_ERROR, 'rules: [{errors: [A], policy: noRetry}, {errors: ["http:5xx"], policy: nonretryable}]']],
    [[ON_ERROR, 'policies: {connection: {}, onError: {}, onError-: {}}']],
  ])('is the same after it is written to a file and read again: %j', (lines) => {
    const { resiliency } = actorOf('resiliency:', ...lines.map((line) => `  ${line}`));
    const { policies, rules } = resiliencyInput(resiliency);
    expect(resiliencyOf(policies, rules)).toEqual(resiliency);
    const env = { ASYA_ACTOR_NAME: 'score', ASYA_RESILIENCY_FILE: '/policies.json' };
    const reading = readEnvironment(env, fileOf(JSON.stringify({ policies, rules })));
    expect('config' in reading && reading.config.actor.resiliency).toEqual(resiliency);
  });
});
