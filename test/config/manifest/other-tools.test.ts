import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import { filesOf, mistakeLines, python } from './a-mesh.ts';

/** One actor, and this file. */
function withFile(path: string, text: string) {
  return readManifest(filesOf({ 'a.yaml': python('a'), [path]: text }));
}

describe('a file of another tool', () => {
  it.each([
    ['a compose file', 'compose.yaml', 'services:\n  web: {image: nginx, entrypoint: [a]}\n'],
    [
      'a workflow',
      'ci.yml',
      'name: CI\non: [push]\njobs: {a: {runs-on: ubuntu, steps: [{run: npm test}]}}\n',
    ],
    [
      'a deployment',
      'web.yaml',
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n',
    ],
    [
      'a scaler',
      'keda.yaml',
      'apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: a}\nspec: {}\n',
    ],
    ['a workspace', 'pnpm-workspace.yaml', 'packages:\n- a/*\n'],
    ['a list', 'list.yaml', '- a\n- b\n'],
    ['text', 'text.yaml', 'just words\n'],
    ['an empty file', 'empty.yaml', '# nothing\n'],
    ['a template', 'chart.yaml', '{{ if .Values.web }}\nkind: Deployment\n{{ end }}\n'],
    ['a file that is not valid', 'broken.yaml', 'a: [\n\tb: @c\n'],
    ['a CloudFormation template', 'template.yaml', 'Resources: {A: {Type: B, Name: !Ref C}}\n'],
    ['a Serverless file', 'serverless.yml', 'service: a\nfunctions: {a: {handler: a.b}}\n'],
    ['a file with duplicate keys', 'twice.yaml', 'a: 1\na: 2\n'],
    ['a resource in flows.yaml', 'flows.yaml', 'apiVersion: v1\nkind: ConfigMap\n'],
  ])('is ignored: %s', (_what, path, text) => {
    const reading = withFile(path, text);
    expect(mistakeLines(reading)).toEqual([]);
    expect(reading).toMatchObject({ warnings: [], ignored: [path] });
  });

  it('may share a file with an actor', () => {
    const text = `${python('b')}---\nkind: ConfigMap\n---\nkind: AsynActor\n`;
    expect(
      mistakeLines(withFile('b.yaml', text)).map((line) => line.split(':').slice(0, 2).join(':')),
    ).toEqual(['b.yaml:10', 'b.yaml:10']);
  });
});

describe('a misspelt document of the mesh', () => {
  const KIND = '2:1 kind: ';
  it.each([
    ['kind', python('b').replace('AsyncActor', 'AsynActor'), `${KIND}is "AsynActor"`],
    ['kind in the plural', python('b').replace('AsyncActor', 'AsyncActors'), `${KIND}is "AsyncActors"`],
    ['kind in lower case', python('b').replace('AsyncActor', 'async-actor'), `${KIND}is "async-actor"`],
    [
      'name of the field kind',
      python('b').replace('kind:', 'knd:'),
      '2:1 knd: is not a known field; did you mean "kind"?',
    ],
    ['version', python('b').replace('v1alpha1', 'v1'), '1:1 apiVersion: is "asya.sh/v1"'],
    ['group', python('b').replace('asya.sh', 'aysa.sh'), '1:1 apiVersion: is "aysa.sh/v1alpha1"'],
    ['group without a kind', 'apiVersion: asya.io/v1\n', '1:1 apiVersion: is "asya.io/v1"'],
    ['kind without a version', 'kind: AsynActor\nspec: {}\n', '1:1 apiVersion: is missing'],
    [
      'document without kind and version',
      'metadata: {name: b}\nspec: {handler: a.b}\n',
      '1:1 apiVersion: is missing',
    ],
    ['list of flows', 'flow:\n- {name: f, entrypoint: a}\n', '1:1'],
    [
      'list of flows in a file with another name',
      'flows:\n- {name: f, entrypoint: a}\n',
      '1:1 flows: is in "b.yaml"',
    ],
    ['kind in a file that is not valid', 'kind: AsynActor\nspec: {a: [\n', '2:11: has a bracket'],
  ])('is reported: %s', (_what, text, problem) => {
    const lines = mistakeLines(withFile('b.yaml', text));
    expect(
      lines.some((line) => line.startsWith(`b.yaml:${problem}`)),
      lines.join('\n'),
    ).toBe(true);
  });

  it.each(['flow:\n- {name: f, entrypoint: a}\n', 'x: 1\n', '[]', 'flows: ['])(
    'is reported in flows.yaml: %j',
    (text) => {
      expect(mistakeLines(withFile('flows.yaml', text))).not.toEqual([]);
    },
  );
});
