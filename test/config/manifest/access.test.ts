import { describe, expect, it } from 'vitest';
import { bucketReference } from '../../../lib/config/manifest/access.ts';
import { actorText, manifestOf, mistakesIn, python, warningsIn } from './a-mesh.ts';

const OBJECTS = bucketReference('pictures', '/*');
const permission = (actions: string, resources: string) =>
  `permissions: [{actions: ${actions}, resources: ${resources}}]`;

describe('permissions', () => {
  it('are read with buckets and the local choice', () => {
    const { actors } = manifestOf({
      'a.yaml': python(
        'score',
        'buckets: [pictures]',
        permission("['s3:PutObject', 's3:Get*']", `['${OBJECTS}', 'arn:aws:s3:::other/*', '*']`),
        'local: {aws: embedded}',
      ),
    });
    expect(actors[0]?.access).toEqual({
      permissions: [
        { actions: ['s3:PutObject', 's3:Get*'], resources: [OBJECTS, 'arn:aws:s3:::other/*', '*'] },
      ],
      buckets: ['pictures'],
      localAws: 'embedded',
    });
  });

  it('are optional', () => {
    expect(manifestOf({ 'a.yaml': python('score') }).actors[0]).not.toHaveProperty('access');
  });

  it.each([
    ['a list without items', 'permissions: []', 'permissions: is an empty list'],
    ['an action without a service', permission('[PutObject]', "['*']"), 'expected an IAM action'],
    [
      'an action with another separator',
      permission("['S3.PutObject']", "['*']"),
      'did you mean "s3:PutObject"?',
    ],
    ['no resources', "permissions: [{actions: ['s3:*']}]", 'permissions[0].resources'],
    ['an unknown key', "permissions: [{action: ['s3:*'], resources: ['*']}]", 'did you mean "actions"?'],
    [
      'a resource that is not an ARN',
      permission("['s3:*']", '[pictures]'),
      'expected an ARN, "*", or a bucket',
    ],
    ['an s3: address', permission("['s3:*']", "['s3://pics/a']"), 'did you mean "arn:aws:s3:::pics/a"?'],
    ['a bucket that is not declared', permission("['s3:*']", `['${OBJECTS}']`), 'add it to spec.buckets'],
    ['a bucket with upper case', 'buckets: [Pictures]', 'expected 3 to 32 characters'],
    ['a bucket of the mesh', 'buckets: [asya-archive]', 'belong to the mesh itself'],
    ['a bucket twice', 'buckets: [abc, abc]', 'is already in the list'],
    ['an unknown place', 'local: {aws: embeded}', 'did you mean "embedded"?'],
  ])('with %s are a mistake', (_title, line, message) => {
    expect(mistakesIn({ 'a.yaml': python('score', line) }).join('\n')).toContain(message);
  });

  it('of a runtime at a url are a mistake', () => {
    const text = actorText('score', 'url: https://score.example/', permission("['s3:*']", "['*']"));
    expect(mistakesIn({ 'a.yaml': text }).join('\n')).toContain('the sidecar cannot give it credentials');
  });

  it.each([
    ['every action', permission("['*:*']", "['*']"), 'allows every action of every service'],
    ['an unused bucket', 'buckets: [pictures]', 'so its handler cannot use the bucket'],
    ['a local choice without permissions', 'local: {aws: embedded}', 'the actor has no permissions'],
  ])('give a warning for %s', (_title, line, message) => {
    expect(warningsIn({ 'a.yaml': python('score', line) }).join('\n')).toContain(message);
  });
});
