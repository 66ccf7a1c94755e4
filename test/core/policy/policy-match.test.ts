import { describe, expect, it } from 'vitest';
import { NO_RESILIENCY } from '../../../lib/core/policy/policy.ts';
import {
  matches,
  matchPolicy,
  matchRule,
  patternFromText,
  patternText,
} from '../../../lib/core/policy/policy-match.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { resiliencyOf } from '../a-delivery.ts';

function fault(type: string, mro: readonly string[] = [], httpStatus?: number) {
  return { type, mro, ...defined({ httpStatus }) };
}

function isMatch(text: string, happened: ReturnType<typeof fault>): boolean {
  const pattern = patternFromText(text);
  if (pattern === undefined) throw new Error(`no pattern: ${text}`);
  return matches(pattern, happened);
}

describe('a pattern without a dot matches the name after the last dot', () => {
  it.each([
    ['ValueError', fault('ValueError'), true],
    ['ValueError', fault('builtins.ValueError'), true],
    ['ValueError', fault('a.b.ValueError'), true],
    ['ValueError', fault('a.ValueError.Odd'), false],
    ['ValueError', fault('MyValueError'), false],
    ['ValueError', fault('ValueErrors'), false],
    ['ValueError', fault('valueerror'), false],
    ['ValueError', fault('KeyError', ['ValueError']), true],
    ['ValueError', fault('KeyError', ['LookupError', 'builtins.ValueError']), true],
    ['ValueError', fault('KeyError', ['LookupError']), false],
    ['Exception', fault('a.B', ['a.C', 'Exception']), true],
    ['http', fault('http', [], 503), true],
  ])('%s and %j: %s', (text, happened, is) => {
    expect(isMatch(text, happened)).toBe(is);
  });
});

describe('a pattern with a dot matches the full name', () => {
  it.each([
    ['pkg.ValueError', fault('pkg.ValueError'), true],
    ['pkg.ValueError', fault('ValueError'), false],
    ['pkg.ValueError', fault('other.pkg.ValueError'), false],
    ['pkg.ValueError', fault('pkg.ValueErrors'), false],
    ['pkg.ValueError', fault('Odd', ['A', 'pkg.ValueError']), true],
    ['pkg.ValueError', fault('Odd', ['ValueError']), false],
  ])('%s and %j: %s', (text, happened, is) => {
    expect(isMatch(text, happened)).toBe(is);
  });
});

describe('an HTTP pattern matches the status', () => {
  it.each([
    ['http:503', fault('A', [], 503), true],
    ['http:503', fault('A', [], 500), false],
    ['http:503', fault('http:503'), false],
    ['http:503', fault('A'), false],
    ['http:5xx', fault('A', [], 500), true],
    ['http:5xx', fault('A', [], 599), true],
    ['http:5xx', fault('A', [], 499), false],
    ['http:4xx', fault('A', [], 400), true],
    ['http:4xx', fault('A', [], 500), false],
    ['http:1xx', fault('A', [], 100), true],
    ['http:5xx', fault('A'), false],
  ])('%s and %j: %s', (text, happened, is) => {
    expect(isMatch(text, happened)).toBe(is);
  });
});

describe('patternFromText and patternText', () => {
  it.each([
    ['ValueError', { kind: 'last-name', name: 'ValueError' }],
    ['a.B', { kind: 'full-name', name: 'a.B' }],
    ['A', { kind: 'last-name', name: 'A' }],
    ['_private', { kind: 'last-name', name: '_private' }],
    ['Größe-1', { kind: 'last-name', name: 'Größe-1' }],
    ['a.b.C', { kind: 'full-name', name: 'a.b.C' }],
    ['xhttp:503', { kind: 'last-name', name: 'xhttp:503' }],
    ['http', { kind: 'last-name', name: 'http' }],
    ['http:100', { kind: 'http-status', status: 100 }],
    ['http:599', { kind: 'http-status', status: 599 }],
    ['http:1xx', { kind: 'http-class', hundreds: 1 }],
    ['http:5xx', { kind: 'http-class', hundreds: 5 }],
  ])('%s', (text, pattern) => {
    expect(patternFromText(text)).toEqual(pattern);
    expect(patternText(pattern as NonNullable<ReturnType<typeof patternFromText>>)).toBe(text);
  });

  it.each([
    [''],
    [' '],
    [' A'],
    ['A '],
    ['http:'],
    ['http:6xx'],
    ['http:0xx'],
    ['http:600'],
    ['http:099'],
    ['http:50'],
    ['http:5034'],
    ['http:5xxx'],
    ['http:5XX'],
    ['http:xxx'],
    ['http:503 '],
    ['http: 503'],
    ['http:xhttp:503'],
    ['HTTP:503'],
    ['Http:5xx'],
    ['two words'],
    ['*'],
    ['Value*'],
    ['*Error'],
    ['A,B'],
    [',A'],
    ['A,'],
    ['503'],
    ['5A'],
    ['.'],
    ['.A'],
    ['A.'],
    ['a.B.'],
    ['A\tB'],
    ['A\n'],
  ])('rejects %j', (text) => {
    expect(patternFromText(text)).toBeUndefined();
  });
});

describe('NO_RESILIENCY', () => {
  it('has neither policies nor rules', () => {
    expect(NO_RESILIENCY).toEqual({ policies: new Map(), rules: [] });
  });
});

describe('matchPolicy', () => {
  const policies = { slow: { maxAttempts: 2 }, fast: { maxAttempts: 3 }, default: { maxAttempts: 4 } };
  const rules = [
    { errors: ['KeyError', 'http:404'], policy: 'noRetry' },
    { errors: ['ValueError'], policy: 'slow' },
    { errors: ['Exception', 'ValueError'], policy: 'fast' },
  ];

  it.each([
    ['the first rule that matches, by type', fault('ValueError', ['Exception']), 'slow', 1],
    ['the first rule that matches, by an ancestor', fault('Odd', ['Exception']), 'fast', 2],
    [
      'the first rule, even if a later one matches a closer ancestor',
      fault('Odd', ['Exception', 'ValueError']),
      'slow',
      1,
    ],
    ['a built-in policy', fault('KeyError'), 'noRetry', 0],
    ['any error of a rule', fault('Odd', [], 404), 'noRetry', 0],
  ])('%s', (_what, happened, policyName, rule) => {
    expect(matchPolicy(resiliencyOf(policies, rules), happened)).toMatchObject({ policyName, rule });
    expect(matchRule(resiliencyOf(policies, rules), happened)).toMatchObject({ policyName, rule });
  });

  it('selects the default policy if no rule matches', () => {
    const match = matchPolicy(resiliencyOf(policies, rules), fault('Odd'));
    expect(match?.policyName).toBe('default');
    expect(match?.policy.maxAttempts).toBe(4);
    expect(match).not.toHaveProperty('rule');
    expect(matchRule(resiliencyOf(policies, rules), fault('Odd'))).toBeUndefined();
  });

  it('selects no policy without a default', () => {
    expect(matchPolicy(resiliencyOf({ slow: {} }, []), fault('Odd'))).toBeUndefined();
    expect(matchPolicy(resiliencyOf({}, []), fault('Odd'))).toBeUndefined();
  });

  it.each(['noRetry', 'nonretryable'])('the built-in policy %s allows one attempt', (name) => {
    const match = matchPolicy(resiliencyOf({}, [{ errors: ['A'], policy: name }]), fault('A'));
    expect(match?.policy).toEqual({
      maxAttempts: 1,
      backoff: { kind: 'exponential', initialMs: 0 },
      jitter: false,
      onExhausted: { action: 'sink' },
      exhaustedReason: 'NonRetryableFailure',
    });
  });

  it.each(['noRetry', 'nonretryable'])('a declared policy replaces the built-in %s', (name) => {
    const own = resiliencyOf({ [name]: { maxAttempts: 9 } }, [{ errors: ['A'], policy: name }]);
    expect(matchPolicy(own, fault('A'))?.policy).toMatchObject({
      maxAttempts: 9,
      exhaustedReason: 'PolicyExhausted',
    });
  });

  it('ignores a rule whose policy does not exist', () => {
    const odd = {
      policies: new Map(),
      rules: [{ errors: [{ kind: 'last-name', name: 'A' }], policy: 'nowhere' }],
    };
    expect(matchRule(odd as never, fault('A'))).toBeUndefined();
  });
});
