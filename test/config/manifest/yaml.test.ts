import { describe, expect, it } from 'vitest';
import { actorOf, manifestOf, mistakesIn, python } from './a-mesh.ts';

describe('invalid YAML', () => {
  it.each([
    ['a list that does not end', 'a: [1\nb: 2', '2:1: is not valid YAML: Flow sequence'],
    ['a tab', 'a:\n\t- b', '2:1: is not valid YAML: Tabs are not allowed as indentation'],
    ['two colons', 'a: b: c', '1:4: is not valid YAML: Nested mappings'],
    ['a quote that does not end', 'a: "b\nc', '2:2: is not valid YAML: '],
    ['a name that is a list', '? [a]\n: 1', '1:3: is a key that is not text; expected text'],
    ['a tag', 'a: !Ref b', '1:4: is not supported: Unresolved tag: !Ref'],
    ['excessive nesting', '['.repeat(5_000), '1:'],
  ])('%s is reported with its line', (_what, text, line) => {
    const lines = mistakesIn({ 'a.yaml': text });
    expect(
      lines.some((one) => one.startsWith(`a.yaml:${line}`)),
      lines.join('\n'),
    ).toBe(true);
    expect(lines.length).toBeLessThan(10);
  });

  it('does not hide the other documents', () => {
    const lines = mistakesIn({ 'a.yaml': 'a: [', 'b.yaml': python('b', 'memory: much') });
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      expect.stringMatching(/^a\.yaml:1:/),
      'b.yaml:7:3',
    ]);
  });
});

describe('a duplicate key', () => {
  it('is reported together with other mistakes', () => {
    expect(mistakesIn({ 'a.yaml': python('score', 'memory: 1Gi', 'memory: much') })).toEqual([
      'a.yaml:8:3 spec.memory: is a duplicate key, first defined on line 7; keep one',
      expect.stringMatching(/^a\.yaml:8:3 spec\.memory: is "much"/),
    ]);
  });

  it('is reported inside a flow', () => {
    const flows = 'flows:\n- name: f\n  entrypoint: a\n  timeout: 300\n  mcp: {inputSchema: {a: 1, a: 2}}';
    expect(mistakesIn({ 'a.yaml': python('a'), 'flows.yaml': flows })).toEqual([
      'flows.yaml:5:29 flows[0].mcp.inputSchema.a: is a duplicate key, first defined on line 5; keep one',
    ]);
  });
});

describe('aliases', () => {
  it.each([
    [
      'without an anchor',
      ['environment: {A: &model a, B: *modle}'],
      '7:33 spec.environment.B: is the alias "*modle", but the anchor "&modle" is not defined before it; did you mean "model"?',
    ],
    [
      'of a node that contains them',
      ['environment: &all', '  A: *all'],
      '8:8 spec.environment.A: is the alias "*all" of a node that contains it',
    ],
    [
      'merged, but not of a map',
      ['environment: {<<: 3}'],
      '7:17 spec.environment["<<"]: merges something other than a map; expected an alias of a map',
    ],
  ])('%s are reported', (_what, spec, line) => {
    expect(mistakesIn({ 'a.yaml': python('score', ...spec) })).toEqual([`a.yaml:${line}`]);
  });

  it('that expand too far are rejected', () => {
    const bomb = Array.from({ length: 20 }, (_, index) =>
      index === 0 ? 'a0: &a0 [x, x]' : `a${index}: &a${index} [*a${index - 1}, *a${index - 1}]`,
    );
    expect(
      mistakesIn({ 'a.yaml': python('score', 'environment:', ...bomb.map((line) => `  ${line}`)) }),
    ).toEqual(['a.yaml:1:1: has aliases that expand to more than 100 nodes; write some of them out']);
  });

  it('do not change the reported place of a mistake', () => {
    const lines = mistakesIn({
      'a.yaml': python(
        'score',
        'resiliency:',
        '  policies:',
        '    default: &p',
        '      maxAttempts: many',
        '    other: *p',
        '    third: {<<: *p}',
      ),
    });
    expect(lines.map((line) => line.split(':').slice(1, 3).join(':'))).toEqual([
      '10:9 spec.resiliency.policies.default.maxAttempts',
      '10:9 spec.resiliency.policies.other.maxAttempts',
      '10:9 spec.resiliency.policies.third.maxAttempts',
    ]);
  });
});

describe('text', () => {
  it('stays text for any YAML version in a directive', () => {
    expect(actorOf('environment: {A: on, B: yes, C: No}').environment).toEqual({
      A: 'on',
      B: 'yes',
      C: 'No',
    });
    const old = `%YAML 1.1\n---\n${python('score', 'environment: {A: on}')}`;
    expect(manifestOf({ 'a.yaml': old }).actors[0]?.environment).toEqual({ A: 'on' });
  });

  it('may be the name of an Object property', () => {
    expect(mistakesIn({ 'a.yaml': python('score', '__proto__: {memory: 1}', 'constructor: 1') })).toEqual([
      expect.stringMatching(/^a\.yaml:7:3 spec\.__proto__: is not a known field/),
      expect.stringMatching(/^a\.yaml:8:3 spec\.constructor: is not a known field/),
    ]);
  });

  it('may be the name of an Object property anywhere', () => {
    const odd = '{toString: 1, valueOf: 2, toJSON: 3}';
    const fields = [
      'next: [ODD]',
      'memory: ODD',
      'scaling: {batchWindow: ODD}',
      'resiliency: {actorTimeout: ODD}',
    ];
    for (const field of [
      ...fields,
      'actor: ODD',
      'runtime: ODD',
      'resiliency: {policies: {p: {maxAttempts: ODD}}}',
      'resiliency: {onError: ODD}',
    ]) {
      expect(mistakesIn({ 'a.yaml': python('score', field.replace('ODD', odd)) })).toHaveLength(1);
    }
    const flows = `flows: [{name: ${odd}, entrypoint: ${odd}, timeout: ${odd}}]`;
    expect(mistakesIn({ 'a.yaml': python('score'), 'flows.yaml': flows })).toHaveLength(3);
  });

  it('of several lines is reported in one line', () => {
    expect(
      mistakesIn({ 'a.yaml': python('score', '"two\\nlines": 1', 'memory: "two\\nlines"') }),
    ).toHaveLength(2);
  });
});
