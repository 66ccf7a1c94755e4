import { describe, expect, it } from 'vitest';
import { compilePolicy, policyInput } from '../../../lib/core/policy/policy-input.ts';
import { compileResiliency, NOT_JSON, resiliencyInput } from '../../../lib/core/policy/resiliency-input.ts';
import { type Mistake, mistakeCollector } from '../../../lib/core/text/mistake.ts';
import { policyOf, resiliencyOf } from '../a-delivery.ts';

/** The location and problem of each mistake, one line each. */
function mistakesOf(policy: unknown): readonly string[] {
  const mistakes: Mistake[] = [];
  compilePolicy(policy, mistakeCollector(mistakes, 'p'));
  return mistakes.map(({ place, problem }) => `${place} ${problem}`);
}

function mistakesOfBoth(policies: unknown, rules: unknown): readonly string[] {
  const mistakes: Mistake[] = [];
  compileResiliency(policies, rules, {
    policies: mistakeCollector(mistakes, 'policies'),
    rules: mistakeCollector(mistakes, 'rules'),
  });
  return mistakes.map(({ place, problem }) => `${place} ${problem}`);
}

const NONE = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'PolicyExhausted',
};

describe('compilePolicy', () => {
  it('applies the defaults to an empty policy', () => {
    expect(policyOf({})).toStrictEqual(NONE);
  });

  it('compiles all fields', () => {
    expect(
      policyOf({
        maxAttempts: 5,
        backoff: 'linear',
        initialDelay: '1.5s',
        maxInterval: '1m',
        maxDuration: '1h',
        expireAfter: '36h',
        jitter: true,
        onExhausted: ['recover', 'notify'],
      }),
    ).toEqual({
      maxAttempts: 5,
      backoff: { kind: 'linear', initialMs: 1_500 },
      maxIntervalMs: 60_000,
      maxDurationMs: 3_600_000,
      expireAfterMs: 129_600_000,
      jitter: true,
      onExhausted: { action: 'route', actors: ['recover', 'notify'] },
      exhaustedReason: 'PolicyExhausted',
    });
  });

  it.each([
    ['0 attempts count as 1', { maxAttempts: 0 }, { maxAttempts: 1 }],
    ['1 attempt', { maxAttempts: 1 }, { maxAttempts: 1 }],
    ['2 attempts', { maxAttempts: 2 }, { maxAttempts: 2 }],
    ['-0 attempts count as 1', { maxAttempts: -0 }, { maxAttempts: 1 }],
    [
      'unlimited with maxDuration',
      { maxAttempts: 'unlimited', maxDuration: '1h' },
      { maxAttempts: Number.POSITIVE_INFINITY, maxDurationMs: 3_600_000 },
    ],
    [
      'unlimited with expireAfter',
      { maxAttempts: 'unlimited', expireAfter: '1h' },
      { maxAttempts: Number.POSITIVE_INFINITY, expireAfterMs: 3_600_000 },
    ],
    [
      'constant',
      { backoff: 'constant', initialDelay: '1s' },
      { backoff: { kind: 'constant', initialMs: 1_000 } },
    ],
    [
      'fixed is constant',
      { backoff: 'fixed', initialDelay: '1s' },
      { backoff: { kind: 'constant', initialMs: 1_000 } },
    ],
    ['exponential', { backoff: 'exponential' }, { backoff: { kind: 'exponential', initialMs: 0 } }],
    ['initialInterval', { initialInterval: '2s' }, { backoff: { kind: 'exponential', initialMs: 2_000 } }],
    ['initialDelay', { initialDelay: '2s' }, { backoff: { kind: 'exponential', initialMs: 2_000 } }],
    [
      'a schedule',
      { backoff: 'schedule', delays: ['1s', '0s', '5m'] },
      { backoff: { kind: 'schedule', delaysMs: [1_000, 0, 300_000] } },
    ],
    ['no jitter', { jitter: false }, { jitter: false }],
    [
      'escalate',
      { onExhausted: { action: 'escalate', topic: 'errors' } },
      { onExhausted: { action: 'escalate', topic: 'errors' } },
    ],
    ['drop', { onExhausted: { action: 'drop' } }, { onExhausted: { action: 'drop' } }],
    ['a limit of 0 counts as absent', { maxInterval: '0s', maxDuration: '0s', expireAfter: '0' }, {}],
    ['an empty onExhausted counts as absent', { onExhausted: [] }, {}],
    ['a null onExhausted counts as absent', { onExhausted: null }, {}],
  ])('%s', (_what, input, compiled) => {
    expect(policyOf(input)).toEqual({ ...NONE, ...compiled });
  });
});

const DURATION_RULE = 'expected a duration such as "300ms", "1.5s", "5m" or "1h30m"';

describe('a mistake in a policy contains the location, the value and what is valid', () => {
  it.each([
    ['text', 'fast', 'p is "fast"; expected an object like {"maxAttempts":3,"initialDelay":"1s"}'],
    ['null', null, 'p is null; expected an object like'],
    ['a list', [1], 'p is [1]; expected an object like'],
    ['an unknown field', { maxAttempt: 3 }, 'p.maxAttempt is not a known field; did you mean "maxAttempts"?'],
    ['a field in another case', { MaxInterval: '1s' }, 'did you mean "maxInterval"?'],
    [
      'a misspelled field',
      { initalDelay: '1s' },
      'p.initalDelay is not a known field; did you mean "initialDelay"?',
    ],
    [
      'attempts below 0',
      { maxAttempts: -1 },
      'p.maxAttempts is -1; expected a whole number, 0 or more, or "unlimited"',
    ],
    [
      'a fractional number of attempts',
      { maxAttempts: 2.5 },
      'p.maxAttempts is 2.5; expected a whole number',
    ],
    ['attempts as text', { maxAttempts: '3' }, 'p.maxAttempts is "3"; expected a whole number'],
    ['attempts that are null', { maxAttempts: null }, 'p.maxAttempts is null; expected a whole number'],
    [
      'attempts above the largest safe integer',
      { maxAttempts: 2 ** 53 },
      'p.maxAttempts is 9007199254740992; expected a whole number',
    ],
    [
      'unlimited without a time limit',
      { maxAttempts: 'unlimited' },
      'p.maxAttempts is "unlimited", which requires a maxDuration or an expireAfter above 0',
    ],
    [
      'unlimited with time limits of 0',
      { maxAttempts: 'unlimited', maxDuration: '0s', expireAfter: '0' },
      'p.maxAttempts is "unlimited", which requires a maxDuration or an expireAfter above 0',
    ],
    [
      'an unknown backoff',
      { backoff: 'exponentail' },
      'p.backoff is "exponentail"; expected one of constant, fixed, linear, exponential, schedule; did you mean "exponential"?',
    ],
    ['a backoff that is not text', { backoff: 2 }, 'p.backoff is 2; expected one of constant, fixed, linear'],
    ['a backoff that is null', { backoff: null }, 'p.backoff is null; expected one of'],
    ['an invalid duration', { initialDelay: 'soon' }, `p.initialDelay is "soon"; ${DURATION_RULE}`],
    ['a number for a duration', { initialDelay: 5 }, `p.initialDelay is 5; ${DURATION_RULE}`],
    ['a duration below 0', { initialDelay: '-1s' }, `p.initialDelay is "-1s"; ${DURATION_RULE}`],
    ['an invalid initialInterval', { initialInterval: '1' }, `p.initialInterval is "1"; ${DURATION_RULE}`],
    ['an invalid maxInterval', { maxInterval: '1' }, `p.maxInterval is "1"; ${DURATION_RULE}`],
    ['an invalid maxDuration', { maxDuration: null }, `p.maxDuration is null; ${DURATION_RULE}`],
    ['an invalid expireAfter', { expireAfter: '36' }, `p.expireAfter is "36"; ${DURATION_RULE}`],
    [
      'both initialDelay and initialInterval',
      { initialDelay: '1s', initialInterval: '1s' },
      'p.initialInterval is the older name of initialDelay; set only one of the two',
    ],
    [
      'a schedule without delays',
      { backoff: 'schedule' },
      'p.delays is missing; "backoff":"schedule" requires a list of durations like ["1s","5s"]',
    ],
    [
      'a schedule with empty delays',
      { backoff: 'schedule', delays: [] },
      'p.delays is []; "backoff":"schedule" requires',
    ],
    [
      'a schedule with delays as text',
      { backoff: 'schedule', delays: '1s' },
      'p.delays is "1s"; "backoff":"schedule" requires',
    ],
    [
      'an invalid delay in a schedule',
      { backoff: 'schedule', delays: ['1s', 'x'] },
      `p.delays[1] is "x"; ${DURATION_RULE}`,
    ],
    [
      'a schedule with initialDelay',
      { backoff: 'schedule', delays: ['1s'], initialDelay: '1s' },
      'p.initialDelay cannot be combined with "backoff":"schedule"; use delays',
    ],
    [
      'a schedule with initialInterval',
      { backoff: 'schedule', delays: ['1s'], initialInterval: '1s' },
      'p.initialInterval cannot be combined with "backoff":"schedule"; use delays',
    ],
    ['delays without a schedule', { delays: ['1s'] }, 'p.delays requires "backoff":"schedule"'],
    [
      'delays with another backoff',
      { backoff: 'linear', delays: ['1s'] },
      'p.delays requires "backoff":"schedule"',
    ],
    ['jitter that is text', { jitter: 'yes' }, 'p.jitter is "yes"; expected true or false'],
    ['jitter that is null', { jitter: null }, 'p.jitter is null; expected true or false'],
    [
      'onExhausted that is text',
      { onExhausted: 'recover' },
      'p.onExhausted is "recover"; expected a list of actors, {"action":"escalate","topic":"..."} or {"action":"drop"}',
    ],
    [
      'an invalid name in onExhausted',
      { onExhausted: ['a', 'B'] },
      'p.onExhausted[1] is "B"; expected an actor name such as "recover"; names that start with "x-" are reserved for the mesh',
    ],
    [
      'a reserved name in onExhausted',
      { onExhausted: ['x-sump'] },
      'p.onExhausted[0] is "x-sump"; expected an actor name such as "recover"',
    ],
    [
      'an unknown action',
      { onExhausted: { action: 'escalat' } },
      'p.onExhausted.action is "escalat"; expected one of escalate, drop; did you mean "escalate"?',
    ],
    ['another unknown action', { onExhausted: { action: 'dorp' } }, 'did you mean "drop"?'],
    ['no action', { onExhausted: {} }, 'p.onExhausted.action is missing; expected one of escalate, drop'],
    [
      'an action that is a number',
      { onExhausted: { action: 7 } },
      'p.onExhausted.action is 7; expected one of escalate, drop',
    ],
    [
      'escalate without a topic',
      { onExhausted: { action: 'escalate' } },
      'p.onExhausted.topic is missing; expected the name of a topic or queue; names that start with "x-" are reserved for the mesh',
    ],
    [
      'escalate with an empty topic',
      { onExhausted: { action: 'escalate', topic: '' } },
      'p.onExhausted.topic is ""',
    ],
    [
      'escalate with a topic that is a number',
      { onExhausted: { action: 'escalate', topic: 7 } },
      'p.onExhausted.topic is 7',
    ],
    [
      'escalate with a reserved topic',
      { onExhausted: { action: 'escalate', topic: 'x-sump' } },
      'p.onExhausted.topic is "x-sump"',
    ],
    [
      'escalate with an unknown field',
      { onExhausted: { action: 'escalate', topic: 't', topics: 1 } },
      'p.onExhausted.topics is not a known field; did you mean "topic"?',
    ],
    [
      'drop with an unknown field',
      { onExhausted: { action: 'drop', atcion: 1 } },
      'p.onExhausted.atcion is not a known field; did you mean "action"?',
    ],
    [
      'drop with a topic',
      { onExhausted: { action: 'drop', topic: 't' } },
      'p.onExhausted.topic cannot be combined with "action":"drop": a dropped envelope is not sent anywhere',
    ],
  ])('%s', (_what, policy, mistake) => {
    const mistakes = mistakesOf(policy);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(mistake);
  });

  it.each([
    [{ backoff: 2 }, 'p.backoff is 2; expected one of constant, fixed, linear, exponential, schedule'],
    [{ onExhausted: { action: 7 } }, 'p.onExhausted.action is 7; expected one of escalate, drop'],
    [{ onExhausted: {} }, 'p.onExhausted.action is missing; expected one of escalate, drop'],
  ])('makes no suggestion for %j', (policy, mistake) => {
    expect(mistakesOf(policy)).toEqual([mistake]);
  });

  it('reports all mistakes at once', () => {
    expect(
      mistakesOf({
        maxAttempts: -1,
        backoff: 'slow',
        initialDelay: 1,
        maxInterval: 2,
        maxDuration: 3,
        expireAfter: 4,
        jitter: 5,
        onExhausted: 6,
        delays: 7,
        nonesuch: 8,
      }).map((mistake) => mistake.split(' ')[0]),
    ).toEqual([
      'p.nonesuch',
      'p.maxInterval',
      'p.maxDuration',
      'p.expireAfter',
      'p.maxAttempts',
      'p.backoff',
      'p.initialDelay',
      'p.jitter',
      'p.onExhausted',
    ]);
  });

  it.each([
    [
      'in initialDelay if initialInterval is set as well',
      { initialDelay: 'soon', initialInterval: '1d' },
      ['p.initialInterval', 'p.initialDelay', 'p.initialInterval'],
    ],
    [
      'next to an unknown action',
      { onExhausted: { action: 'escalat', topik: 't' } },
      ['p.onExhausted.topik', 'p.onExhausted.action'],
    ],
  ])('also reports a mistake %s', (_what, policy, places) => {
    expect(mistakesOf(policy).map((mistake) => mistake.split(' ')[0])).toEqual(places);
  });

  it('reports a mistake in initialInterval at initialInterval', () => {
    expect(mistakesOf({ initialInterval: 'x' })[0]).toContain('p.initialInterval');
  });
});

describe('an invalid policy compiles to a consistent one', () => {
  it.each([
    [7],
    [{ backoff: 'schedule' }],
    [{ backoff: 'schedule', delays: ['x'] }],
    [{ onExhausted: { action: 'escalate' } }],
    [{ onExhausted: 'x' }],
    [{ onExhausted: { action: 'x' } }],
    [{ initialDelay: 'x' }],
  ])('%j', (input) => {
    const policy = compilePolicy(input, mistakeCollector([], 'p'));
    expect(policy.onExhausted).toEqual({ action: 'sink' });
    expect(policy.backoff.kind === 'schedule' ? policy.backoff.delaysMs : [policy.backoff.initialMs]).toEqual(
      [0],
    );
  });
});

describe('compileResiliency', () => {
  it('keeps the order of rules and the kinds of patterns', () => {
    const { rules, policies } = resiliencyOf({ slow: {}, default: {} }, [
      { errors: ['ValueError', 'pkg.Odd'], policy: 'slow' },
      { errors: ['http:503', 'http:5xx'], policy: 'default' },
      { errors: ['A'], policy: 'noRetry' },
      { errors: ['B'], policy: 'nonretryable' },
    ]);
    expect([...policies.keys()]).toEqual(['slow', 'default']);
    expect(rules).toEqual([
      {
        errors: [
          { kind: 'last-name', name: 'ValueError' },
          { kind: 'full-name', name: 'pkg.Odd' },
        ],
        policy: 'slow',
      },
      {
        errors: [
          { kind: 'http-status', status: 503 },
          { kind: 'http-class', hundreds: 5 },
        ],
        policy: 'default',
      },
      { errors: [{ kind: 'last-name', name: 'A' }], policy: 'noRetry' },
      { errors: [{ kind: 'last-name', name: 'B' }], policy: 'nonretryable' },
    ]);
  });

  it('accepts empty policies and rules', () => {
    expect(resiliencyOf({}, [])).toEqual({ policies: new Map(), rules: [] });
  });
});

describe('a mistake in policies or rules', () => {
  const slow = { slow: {} };
  it.each([
    [
      'policies that are text',
      'x',
      [],
      'policies is "x"; expected an object of policies like {"default":{"maxAttempts":3}}',
    ],
    ['policies that are a list', [], [], 'policies is []; expected an object of policies'],
    ['policies that are null', null, [], 'policies is null; expected an object of policies'],
    ['a policy that is a number', { slow: 7 }, [], 'policies.slow is 7; expected an object like'],
    ['an invalid policy', { slow: { jitter: 1 } }, [], 'policies.slow.jitter is 1; expected true or false'],
    [
      'rules that are an object',
      slow,
      {},
      'rules is {}; expected a list of rules like [{"errors":["ValueError"],"policy":"noRetry"}]',
    ],
    ['rules that are null', slow, null, 'rules is null; expected a list of rules'],
    [
      'a rule that is text',
      slow,
      ['x'],
      'rules[0] is "x"; expected a rule like {"errors":["ValueError"],"policy":"noRetry"}',
    ],
    ['a rule that is null', slow, [null], 'rules[0] is null; expected a rule like'],
    ['a rule that is a list', slow, [[]], 'rules[0] is []; expected a rule like'],
    [
      'an unknown key',
      slow,
      [{ errors: ['A'], policy: 'slow', eror: 1 }],
      'rules[0].eror is not a known field; did you mean "errors"?',
    ],
    [
      'no errors',
      slow,
      [{ policy: 'slow' }],
      'rules[0].errors is missing; expected a list of errors like ["ValueError","http:503"]',
    ],
    [
      'errors that are text',
      slow,
      [{ errors: 'A', policy: 'slow' }],
      'rules[0].errors is "A"; expected a list of errors',
    ],
    [
      'an empty list of errors',
      slow,
      [{ errors: [], policy: 'slow' }],
      'rules[0].errors is []; expected a list of errors',
    ],
    [
      'an error that is a number',
      slow,
      [{ errors: ['A', 503], policy: 'slow' }],
      'rules[0].errors[1] is 503; expected an error name such as "ValueError", "http:503" or "http:5xx"',
    ],
    [
      'an empty error',
      slow,
      [{ errors: [''], policy: 'slow' }],
      'rules[0].errors[0] is ""; expected an error name',
    ],
    [
      'spaces around an error',
      slow,
      [{ errors: [' A'], policy: 'slow' }],
      'rules[0].errors[0] is " A"; expected an error name',
    ],
    [
      'an invalid HTTP status',
      slow,
      [{ errors: ['http:5x'], policy: 'slow' }],
      'rules[0].errors[0] is "http:5x"; expected an error name',
    ],
    [
      'an unknown policy',
      slow,
      [{ errors: ['A'], policy: 'slov' }],
      'rules[0].policy is "slov"; expected the name of a policy; did you mean "slow"?',
    ],
    [
      'a misspelled built-in policy',
      slow,
      [{ errors: ['A'], policy: 'noretry2' }],
      'did you mean "noRetry"?',
    ],
    [
      'a default policy that is not declared',
      slow,
      [{ errors: ['A'], policy: 'default' }],
      'rules[0].policy is "default"; expected the name of a policy',
    ],
    [
      'no policy',
      slow,
      [{ errors: ['A'] }],
      'rules[0].policy is missing; expected the name of a policy: slow, noRetry, nonretryable',
    ],
    [
      'a policy that is a number',
      slow,
      [{ errors: ['A'], policy: 7 }],
      'rules[0].policy is 7; expected the name of a policy: slow, noRetry, nonretryable',
    ],
    [
      'in the second rule',
      slow,
      [
        { errors: ['A'], policy: 'slow' },
        { errors: ['A'], policy: 'x' },
      ],
      'rules[1].policy is "x"',
    ],
  ])('%s', (_what, policies, rules, mistake) => {
    const mistakes = mistakesOfBoth(policies, rules);
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]).toContain(mistake);
  });

  it('does not check the policies of rules if the policies are invalid as a whole', () => {
    const rules = [{ errors: ['A'], policy: 'slow' }];
    expect(mistakesOfBoth(7, rules)).toHaveLength(1);
    expect(mistakesOfBoth(NOT_JSON, rules)).toEqual([]);
    expect(mistakesOfBoth(NOT_JSON, [{ errors: ['A'], policy: 7 }])).toEqual([
      'rules[0].policy is 7; expected the name of a policy: noRetry, nonretryable',
    ]);
    expect(mistakesOfBoth({}, NOT_JSON)).toEqual([]);
  });

  it('does not hide another mistake', () => {
    expect(
      mistakesOfBoth({ a: { jitter: 1 }, b: 7 }, [7, { errors: [1, 'http:9'], policy: 'c' }]).map(
        (mistake) => mistake.split(' ')[0],
      ),
    ).toEqual([
      'policies.a.jitter',
      'policies.b',
      'rules[0]',
      'rules[1].errors[0]',
      'rules[1].errors[1]',
      'rules[1].policy',
    ]);
  });
});

describe('invalid input compiles to an empty result', () => {
  const notes = { policies: mistakeCollector([], 'policies'), rules: mistakeCollector([], 'rules') };
  it.each([
    ['policies', 7, [], { policies: new Map(), rules: [] }],
    ['policies that are not JSON', NOT_JSON, [], { policies: new Map(), rules: [] }],
    ['rules that are not JSON', {}, NOT_JSON, { policies: new Map(), rules: [] }],
    ['rules', {}, 7, { policies: new Map(), rules: [] }],
    ['a rule', {}, [7], { policies: new Map(), rules: [{ errors: [], policy: '' }] }],
    [
      'all of a rule',
      {},
      [{ errors: 7, policy: 7 }],
      { policies: new Map(), rules: [{ errors: [], policy: '' }] },
    ],
    [
      'one error',
      {},
      [{ errors: [7], policy: 'noRetry' }],
      { policies: new Map(), rules: [{ errors: [], policy: 'noRetry' }] },
    ],
  ])('%s', (_what, policies, rules, compiled) => {
    expect(compileResiliency(policies, rules, notes)).toEqual(compiled);
  });
});

describe('policyInput and resiliencyInput', () => {
  it.each([
    [{}, { maxAttempts: 1, backoff: 'exponential', initialDelay: '0s' }],
    [
      { maxAttempts: 'unlimited', maxDuration: '90s', backoff: 'fixed', initialInterval: '1500ms' },
      { maxAttempts: 'unlimited', backoff: 'constant', initialDelay: '1s500ms', maxDuration: '1m30s' },
    ],
    [
      { backoff: 'schedule', delays: ['60s', '0s'], expireAfter: '36h', maxInterval: '0s' },
      { maxAttempts: 1, backoff: 'schedule', delays: ['1m', '0s'], expireAfter: '36h' },
    ],
    [
      { backoff: 'linear', initialDelay: '5m', jitter: true, onExhausted: ['a', 'b'] },
      { maxAttempts: 1, backoff: 'linear', initialDelay: '5m', jitter: true, onExhausted: ['a', 'b'] },
    ],
    [
      { onExhausted: { action: 'drop' }, jitter: false },
      { maxAttempts: 1, backoff: 'exponential', initialDelay: '0s', onExhausted: { action: 'drop' } },
    ],
    [
      { onExhausted: { action: 'escalate', topic: 't' } },
      {
        maxAttempts: 1,
        backoff: 'exponential',
        initialDelay: '0s',
        onExhausted: { action: 'escalate', topic: 't' },
      },
    ],
  ])('write %j as %j', (input, written) => {
    expect(policyInput(policyOf(input))).toEqual(written);
    expect(policyOf(written)).toEqual(policyOf(input));
  });

  it('write rules with their patterns and policy names', () => {
    const rules = [{ errors: ['A', 'p.B', 'http:429', 'http:4xx'], policy: 'slow' }];
    expect(resiliencyInput(resiliencyOf({ slow: {} }, rules))).toEqual({
      policies: { slow: { maxAttempts: 1, backoff: 'exponential', initialDelay: '0s' } },
      rules,
    });
  });
});
