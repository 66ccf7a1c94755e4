import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, RemovalPolicy } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { FunctionCode, MeshCode } from '../../infra/code/mesh-code.ts';
import { MeshStack } from '../../infra/stacks/mesh-stack.ts';
import type { DeployEnvironment } from '../../infra/stacks/read-environment.ts';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';

export const LETTERS = join(import.meta.dirname, 'meshes/letters');

export const DEV: DeployEnvironment = {
  name: 'dev',
  region: 'eu-central-1',
  removalPolicy: RemovalPolicy.DESTROY,
  logRetention: RetentionDays.ONE_WEEK,
  alarmEmail: 'on-call@example.com',
};

/** The same with a gateway. */
export const DEV_WITH_GATEWAY: DeployEnvironment = { ...DEV, gateway: {} };

const stub: FunctionCode = { kind: 'zip', code: Code.fromInline('exports.handler = () => {}') };
/** Functions without code, for tests that check everything else. */
export const STUB_CODE: MeshCode = { actor: () => stub, crew: () => stub, gateway: () => stub };

export const FLAGS = { '@aws-cdk/aws-iam:minimizePolicies': true };

export function manifestIn(folder: string): Manifest {
  const reading = readMesh(folder);
  if ('mistakes' in reading) throw new Error(mistakesText(reading.mistakes));
  return reading.manifest;
}

export interface StackOptions {
  readonly app?: App;
  readonly id?: string;
  readonly environment?: DeployEnvironment;
  readonly meshName?: string;
  readonly folder?: string;
  readonly code?: MeshCode | 'bundled';
  readonly keysVersion?: string;
}

export function stackOf(manifest: Manifest, options: StackOptions = {}): MeshStack {
  const { environment = DEV, meshName = 'letters', folder = LETTERS, code = STUB_CODE } = options;
  const app = options.app ?? new App({ context: FLAGS });
  return new MeshStack(app, options.id ?? 'Stack', {
    environment,
    meshName,
    manifest,
    folder,
    ...(code === 'bundled' ? {} : { code }),
    ...defined({ keysVersion: options.keysVersion }),
  });
}

export function templateOf(manifest: Manifest, options: StackOptions = {}): TemplateJson {
  return Template.fromStack(stackOf(manifest, options)).toJSON() as TemplateJson;
}

/** An app whose output goes to a temporary folder. */
export async function anApp(context: Record<string, unknown> = {}): Promise<{ app: App; outdir: string }> {
  const outdir = await mkdtemp(join(tmpdir(), 'asya-cdk-'));
  return { app: new App({ outdir, context: { ...FLAGS, ...context } }), outdir };
}

export interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template is JSON of many shapes.
  readonly Properties: any;
  readonly DeletionPolicy?: string;
}

export interface TemplateJson {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: unknown }>>;
}

export function resourcesOf(
  { Resources }: TemplateJson,
  type: string,
): readonly (Resource & { id: string })[] {
  return Object.entries(Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => ({ id, ...resource }));
}

/** The function of an actor, found by its environment. */
export function functionOf(template: TemplateJson, actor: string): Resource & { id: string } {
  const found = resourcesOf(template, 'AWS::Lambda::Function').find(
    ({ Properties }) => Properties.Environment.Variables.ASYA_ACTOR_NAME === actor,
  );
  if (found === undefined) throw new Error(`actor "${actor}" has no function`);
  return found;
}

export function queueNamed(template: TemplateJson, name: string): Resource & { id: string } {
  const found = resourcesOf(template, 'AWS::SQS::Queue').find(
    ({ Properties }) => Properties.QueueName === name,
  );
  if (found === undefined) throw new Error(`the template has no queue "${name}"`);
  return found;
}

/** The name of the queue that an ARN refers to, if it belongs to this stack; otherwise the ARN as text. */
export function nameIn(template: TemplateJson, arn: unknown): string {
  if (typeof arn === 'string') return arn;
  const { 'Fn::GetAtt': attribute, 'Fn::Join': join, Ref } = arn as Record<string, never>;
  if (attribute !== undefined) {
    const [id = '', name] = attribute as readonly string[];
    const resource = template.Resources[id];
    return name === 'Arn' ? (resource?.Properties?.QueueName ?? id) : `${id}.${name}`;
  }
  if (join !== undefined) {
    const [between, parts] = join as readonly [string, readonly unknown[]];
    const text = parts.map((part) => nameIn(template, part)).join(between);
    return text.startsWith('arn:') && text.includes(':sqs:') ? (text.split(':').at(-1) ?? '') : text;
  }
  return `{${Ref}}`;
}

export interface Permission {
  readonly action: string;
  readonly resource: string;
}

/** Every action on every resource that the role of a function allows. */
export function permissionsOf(template: TemplateJson, actor: string): readonly Permission[] {
  return permissionsOfRole(template, functionOf(template, actor).Properties.Role['Fn::GetAtt'][0]);
}

/** The same for a role, by its logical id. */
export function permissionsOfRole(template: TemplateJson, roleId: string): readonly Permission[] {
  return resourcesOf(template, 'AWS::IAM::Policy')
    .filter(({ Properties }) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === roleId))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource: on }) => {
      if (Effect !== 'Allow') throw new Error(`effect "${Effect}" is not supported here`);
      return [Action]
        .flat()
        .flatMap((action: string) =>
          [on].flat().map((resource) => ({ action, resource: nameIn(template, resource) })),
        );
    });
}

/** The queues on which a function may do this. */
export function queuesFor(template: TemplateJson, actor: string, action: string): readonly string[] {
  return permissionsOf(template, actor)
    .filter((one) => one.action === action)
    .map(({ resource }) => resource)
    .sort();
}

/**
 * The logical ids of all roles that may send to a queue, directly or through a wildcard. Throws if the queue's own policy
 * allows anything, because then the roles do not give the full answer.
 */
export function rolesThatMaySendTo(template: TemplateJson, queue: string): readonly string[] {
  const openTo = resourcesOf(template, 'AWS::SQS::QueuePolicy').flatMap(({ Properties }) =>
    Properties.PolicyDocument.Statement.filter(({ Effect }: { Effect: string }) => Effect !== 'Deny'),
  );
  if (openTo.length > 0) throw new Error(`a queue policy allows something: ${JSON.stringify(openTo)}`);
  return resourcesOf(template, 'AWS::IAM::Role')
    .filter(({ id, Properties }) => {
      if (Properties.Policies !== undefined || Properties.ManagedPolicyArns !== undefined)
        throw new Error(`role "${id}" has inline or managed policies, which are not supported here`);
      return permissionsOfRole(template, id).some(
        ({ action, resource }) =>
          isMatch(action, 'sqs:SendMessage') && (resource === queue || isMatch(resource, queue)),
      );
    })
    .map(({ id }) => id)
    .sort();
}

/** Whether an IAM pattern with stars matches. */
function isMatch(pattern: string, text: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'i').test(text);
}
