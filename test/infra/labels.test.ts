import { Tags } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { manifestOf, python } from '../config/manifest/a-mesh.ts';
import { aMeshInCode, jsonOf } from './a-mesh-in-code.ts';
import { LETTERS, manifestIn, type TemplateJson, templateOf } from './a-mesh-stack.ts';

/** Labels of an actor are AWS tags on all resources of this actor, and only on them. */

const LABELS = { 'asya.sh/flow': 'image-enhance', team: 'vision' };

/** The tags of each resource that has tags, by logical id. */
function tagsIn({ Resources }: TemplateJson): ReadonlyMap<string, Readonly<Record<string, string>>> {
  return new Map(
    Object.entries(Resources).flatMap(([id, { Properties }]) => {
      const tags: readonly { Key: string; Value: string }[] = Properties?.Tags ?? [];
      return tags.length === 0
        ? []
        : [[id, Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]))] as const];
    }),
  );
}

const typesOf = ({ Resources }: TemplateJson, ids: Iterable<string>) =>
  [...ids].map((id) => Resources[id]?.Type ?? '').sort();

function twoActors(): TemplateJson {
  const labels = 'metadata: {name: score, labels: {asya.sh/flow: image-enhance, team: vision}}';
  return templateOf(
    manifestOf({
      'score.yaml': python('score').replace('metadata: {name: score}', labels),
      'store.yaml': python('store'),
    }),
  );
}

test('labels in a manifest become tags of queues, function, role, log group and alarms', () => {
  const template = twoActors();
  const tags = tagsIn(template);
  for (const own of tags.values()) expect(own).toEqual(LABELS);
  const alarms = ['dead letters', 'failed', 'slow', 'throttled'].map(() => 'AWS::CloudWatch::Alarm');
  expect(typesOf(template, tags.keys())).toEqual(
    [
      ...alarms,
      'AWS::IAM::Role',
      'AWS::Lambda::EventSourceMapping',
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
      'AWS::SQS::Queue',
      'AWS::SQS::Queue',
    ].sort(),
  );
  for (const id of tags.keys()) expect(id).toMatch(/^Meshactorscore/);
});

test('without labels no resource has a tag', () => {
  expect([...tagsIn(templateOf(manifestIn(LETTERS))).keys()]).toEqual([]);
});

test('labels in code become the same tags, and the app can add more', () => {
  const { mesh, stack } = aMeshInCode();
  const score = mesh.addActor('score', { handler: 'score.ts.score', labels: LABELS });
  mesh.addActor('store', { handler: 'steps.store' });
  Tags.of(score).add('stage', 'test');
  const tags = tagsIn(jsonOf(stack));
  expect(tags.size).toBe(10);
  for (const own of tags.values()) expect(own).toEqual({ ...LABELS, stage: 'test' });
});

test('rejects labels in code that are not valid AWS tags', () => {
  const { mesh } = aMeshInCode();
  expect(() =>
    mesh.addActor('score', { handler: 'score.ts.score', labels: { 'aws:team': 'a', unit: 'b,c' } }),
  ).toThrow(
    /2 mistakes in the deployment of mesh "dev-hand"\n.*actor "score"\.metadata\.labels\.aws:team: has a name that begins with "aws:".*\n.*actor "score"\.metadata\.labels\.unit: is "b,c", with ","; an AWS tag may contain/,
  );
});
