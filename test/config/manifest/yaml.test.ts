import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { actorOf, filesOf, manifestOf, mistakesIn, python } from './a-mesh.ts';

/** The mistakes of a file, with their excerpts. The file names our kind in a comment after the given text. */
function explained(text: string): readonly string[] {
  const reading = readManifest(filesOf({ 'a.yaml': `${text}\n# AsyncActor` }));
  return 'mistakes' in reading ? mistakesText(reading.mistakes).split('\n') : [];
}

describe('invalid YAML', () => {
  it.each([
    [
      'a list that does not end',
      'a: [1\nb: 2',
      '1:4: has a bracket "[" that is not closed; add "]"',
      'a: [1',
      '   ^',
    ],
    [
      'a map that does not end',
      'x: "]"\na: {b: 1\nc: 2',
      '2:4: has a bracket "{" that is not closed; add "}"',
      'a: {b: 1',
      '   ^',
    ],
    [
      'a tab',
      'a:\n\t- b',
      '2:1: is indented with a tab; YAML allows only spaces there, so replace the tab',
      '→- b',
      '^',
    ],
    [
      'a tab after spaces',
      'a:\n  b: 1\n \tc: 1',
      '3:2: is indented with a tab; YAML allows only spaces there, so replace the tab',
      ' →c: 1',
      ' ^',
    ],
    [
      'two colons',
      'a: b: c',
      '1:4: has a second ": " in the same line; put the value in quotes: "b: c", or begin the map on the next line',
      'a: b: c',
      '   ^',
    ],
    [
      'no space after a colon',
      'spec:\n  handler:a.b\n  memory: 1Gi',
      '2:3: needs a space after the colon: "handler: a.b"',
      '  handler:a.b',
      '  ^',
    ],
    ['no colon', 'handler\nb: c', '1:1: is "handler"; expected "key: value"', 'handler', '^'],
    [
      'a quote that does not end',
      'x: "1"\na: "b\nc: d',
      '2:4: has a quote (") that is not closed; add another one at the end of the value',
      'a: "b',
      '   ^',
    ],
    [
      'a single quote that does not end',
      "x: it's\na: 'b\nc: d",
      "2:4: has a quote (') that is not closed; add another one at the end of the value",
      "a: 'b",
      '   ^',
    ],
    [
      'text after a quote',
      'a: "b" c',
      '1:8: is text after the closing quote ("); put the whole value in quotes',
      'a: "b" c',
      '       ^',
    ],
    [
      '@',
      'a: @b',
      '1:4: begins with "@", which has a meaning in YAML; put the value in quotes: "@b"',
      'a: @b',
      '   ^',
    ],
    [
      'a backtick',
      'a: `b`',
      '1:4: begins with "`", which has a meaning in YAML; put the value in quotes: "`b`"',
      'a: `b`',
      '   ^',
    ],
    [
      '%',
      'a: %b',
      '1:4: begins with "%", which has a meaning in YAML; put the value in quotes: "%b"',
      'a: %b',
      '   ^',
    ],
    [
      'a lone *',
      'a: *',
      '1:4: begins with "*", which has a meaning in YAML; put the value in quotes',
      'a: *',
      '   ^',
    ],
    [
      'an escape',
      'a: "\\d"',
      '1:5: is "\\d", which is not an escape in double quotes; write "\\\\d", or use single quotes',
      'a: "\\d"',
      '    ^',
    ],
    [
      'less indentation',
      'a:\n    b: 1\n  c: 2',
      '3:1: is indented differently from the lines it belongs to; use the same number of spaces for all keys of a map',
      '  c: 2',
      '^',
    ],
    [
      'more indentation',
      'a: 1\n\n  b: 2',
      '3:3: is indented deeper than the line above it, which already has a value; use the same indentation for both',
      '  b: 2',
      '  ^',
    ],
    [
      'a list in the line of its key',
      'a: - b',
      '1:4: begins a list in the line of its key; begin the list on the next line',
      'a: - b',
      '   ^',
    ],
    [
      'a missing comma',
      'b: {c: 1 d: 2}',
      '1:8: is inside brackets and not separated from what is before it; add a comma between the items',
      'b: {c: 1 d: 2}',
      '       ^',
    ],
    [
      'a bracket too many',
      'a: [1]]',
      '1:7: is a "]" without an opening bracket; remove it, or put the value in quotes',
      'a: [1]]',
      '      ^',
    ],
    [
      'text after |',
      'a: |x',
      '1:5: is text after "|" or ">"; begin the text on the next line',
      'a: |x',
      '    ^',
    ],
    [
      'a template',
      'a: {{ .b }}',
      '1:5: is a key that is not text: the value begins with two braces; put it in quotes',
      'a: {{ .b }}',
      '    ^',
    ],
    ['a name that is a list', '? [a]\n: 1', '1:3: is a key that is not text; expected text', '? [a]', '  ^'],
  ])('%s is explained, with its line', (_what, text, problem, line, caret) => {
    expect(explained(text)).toEqual([`a.yaml:${problem}`, `    ${line}`, `    ${caret}`]);
  });

  it.each([
    ['a tag', 'kind: !Ref AsyncActor', '1:7: is not supported: Unresolved tag: !Ref'],
    ['excessive nesting', '['.repeat(5_000), '1:'],
  ])('%s is reported with its line', (_what, text, problem) => {
    const lines = explained(text);
    expect(
      lines.some((line) => line.startsWith(`a.yaml:${problem}`)),
      lines.join('\n'),
    ).toBe(true);
    expect(lines.every((line) => line.length < 120)).toBe(true);
  });

  it('does not hide the other documents', () => {
    const lines = mistakesIn({ 'a.yaml': 'kind: [AsyncActor', 'b.yaml': python('b', 'memory: much') });
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
