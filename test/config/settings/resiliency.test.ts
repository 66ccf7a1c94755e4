import { describe, expect, it } from 'vitest';
import { configOf, fileOf, noFile, refusalOf } from '../an-environment.ts';

const FILE = { ASYA_RESILIENCY_FILE: '/etc/policies.json' };
const PLACE = 'ASYA_RESILIENCY_FILE (/etc/policies.json)';
const POLICIES = '{"slow":{"maxAttempts":3,"initialDelay":"1m"},"default":{}}';
const RULES = '[{"errors":["ValueError","http:503"],"policy":"slow"}]';

const DEFAULT = {
  maxAttempts: 1,
  backoff: { kind: 'exponential', initialMs: 0 },
  jitter: false,
  onExhausted: { action: 'sink' },
  exhaustedReason: 'PolicyExhausted',
};
const SLOW = { ...DEFAULT, maxAttempts: 3, backoff: { kind: 'exponential', initialMs: 60_000 } };
const BOTH = {
  policies: new Map([
    ['slow', SLOW],
    ['default', DEFAULT],
  ]),
  rules: [
    {
      errors: [
        { kind: 'last-name', name: 'ValueError' },
        { kind: 'http-status', status: 503 },
      ],
      policy: 'slow',
    },
  ],
};

describe('policies and rules', () => {
  it('from two variables', () => {
    const env = { ASYA_RESILIENCY_POLICIES: POLICIES, ASYA_RESILIENCY_RULES: RULES };
    expect(configOf(env).actor.resiliency).toEqual(BOTH);
  });

  it('from a file', () => {
    const read: string[] = [];
    const config = configOf(FILE, (path) => {
      read.push(path);
      return { text: `{"policies":${POLICIES},"rules":${RULES}}` };
    });
    expect(config.actor.resiliency).toEqual(BOTH);
    expect(read).toEqual(['/etc/policies.json']);
  });

  it('not set', () => {
    expect(configOf().actor.resiliency).toEqual({ policies: new Map(), rules: [] });
  });

  it('rules without policies may use built-in policies', () => {
    const env = { ASYA_RESILIENCY_RULES: '[{"errors":["A"],"policy":"noRetry"}]' };
    expect(configOf(env).actor.resiliency.rules).toHaveLength(1);
  });

  it.each([
    ['only policies', `{"policies":${POLICIES}}`, { ...BOTH, rules: [] }],
    ['neither', '{}', { policies: new Map(), rules: [] }],
    ['surrounding white space', ' {\n"rules" : [] }\n', { policies: new Map(), rules: [] }],
  ])('from a file with %s', (_what, text, resiliency) => {
    expect(configOf(FILE, fileOf(text)).actor.resiliency).toEqual(resiliency);
  });
});

describe('invalid variables', () => {
  it.each([
    ['not JSON', { ASYA_RESILIENCY_POLICIES: '{' }, 'ASYA_RESILIENCY_POLICIES: is not JSON: '],
    ['not JSON in the rules', { ASYA_RESILIENCY_RULES: 'x' }, 'ASYA_RESILIENCY_RULES: is not JSON: '],
    [
      'a list of policies',
      { ASYA_RESILIENCY_POLICIES: '[]' },
      'ASYA_RESILIENCY_POLICIES: is []; expected an object of policies like {"default":{"maxAttempts":3}}',
    ],
    [
      'null for policies',
      { ASYA_RESILIENCY_POLICIES: 'null' },
      'ASYA_RESILIENCY_POLICIES: is null; expected an object of policies like {"default":{"maxAttempts":3}}',
    ],
    [
      'an object of rules',
      { ASYA_RESILIENCY_RULES: '{}' },
      'ASYA_RESILIENCY_RULES: is {}; expected a list of rules like',
    ],
    [
      'null for rules',
      { ASYA_RESILIENCY_RULES: 'null' },
      'ASYA_RESILIENCY_RULES: is null; expected a list of rules like',
    ],
    [
      'an unknown field',
      { ASYA_RESILIENCY_POLICIES: '{"default":{"maxAttemts":3}}' },
      'ASYA_RESILIENCY_POLICIES.default.maxAttemts: is not a known field; did you mean "maxAttempts"?',
    ],
    [
      'a missing policy',
      { ASYA_RESILIENCY_POLICIES: '{"slow":{}}', ASYA_RESILIENCY_RULES: '[{"errors":["A"],"policy":"slo"}]' },
      'ASYA_RESILIENCY_RULES[0].policy: is "slo"; expected the name of a policy; did you mean "slow"?',
    ],
  ])('%s', (_what, env, mistake) => {
    const lines = refusalOf(env);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(mistake);
  });
});

describe('an invalid file', () => {
  it('cannot be read', () => {
    expect(refusalOf(FILE, noFile)).toEqual([`${PLACE}: cannot be read: no such file`]);
  });

  it.each([
    ['not JSON', '{"policies":', `${PLACE}: is not JSON: `],
    ['empty', '', `${PLACE}: is not JSON: `],
    ['a list', '[1]', `${PLACE}: contains [1]; expected {"policies":{...},"rules":[...]}`],
    ['null', 'null', `${PLACE}: contains null; expected {"policies":{...},"rules":[...]}`],
    ['text', '"x"', `${PLACE}: contains "x"; expected`],
    ['an unknown key', '{"rule":[]}', `${PLACE}.rule: is not a known field; did you mean "rules"?`],
    [
      'another unknown key',
      '{"policy":{}}',
      `${PLACE}.policy: is not a known field; did you mean "policies"?`,
    ],
    ['null for policies', '{"policies":null}', `${PLACE}.policies: is null; expected an object of policies`],
    ['null for rules', '{"rules":null}', `${PLACE}.rules: is null; expected a list of rules`],
    [
      'a bad policy',
      '{"policies":{"a":{"jitter":1}}}',
      `${PLACE}.policies.a.jitter: is 1; expected true or false`,
    ],
    [
      'a bad rule',
      '{"rules":[{"errors":["A"],"policy":"b"}]}',
      `${PLACE}.rules[0].policy: is "b"; expected the name of a policy`,
    ],
  ])('%s', (_what, text, mistake) => {
    const lines = refusalOf(FILE, fileOf(text));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(mistake);
  });
});

describe('empty variables', () => {
  it('count as not set', () => {
    const empty = { ASYA_RESILIENCY_POLICIES: '', ASYA_RESILIENCY_RULES: '', ASYA_RESILIENCY_FILE: '' };
    expect(configOf(empty)).toStrictEqual(configOf());
    expect(refusalOf({ ...empty, ASYA_RESILIENCY_POLICIES: POLICIES })).toEqual([]);
  });
});

describe('a file and variables at once', () => {
  const good = fileOf('{}');
  it.each([
    ['policies', { ASYA_RESILIENCY_POLICIES: POLICIES }, 'ASYA_RESILIENCY_POLICIES'],
    ['rules', { ASYA_RESILIENCY_RULES: RULES }, 'ASYA_RESILIENCY_RULES'],
    [
      'both',
      { ASYA_RESILIENCY_POLICIES: POLICIES, ASYA_RESILIENCY_RULES: RULES },
      'ASYA_RESILIENCY_POLICIES and ASYA_RESILIENCY_RULES',
    ],
  ])('are rejected: %s', (_what, env, named) => {
    expect(refusalOf({ ...FILE, ...env }, good)).toContain(
      `ASYA_RESILIENCY_FILE: is set together with ${named}; keep either the file or the variables`,
    );
  });

  it('reports the mistakes of both', () => {
    const lines = refusalOf({ ...FILE, ASYA_RESILIENCY_RULES: '7' }, fileOf('{"policies":7}'));
    expect(lines.map((line) => line.split(':')[0])).toEqual([
      'ASYA_RESILIENCY_FILE',
      `${PLACE}.policies`,
      'ASYA_RESILIENCY_RULES',
    ]);
  });
});
