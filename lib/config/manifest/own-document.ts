import { isFields } from '../../core/text/fields.ts';
import { closestWord, editDistance } from '../../core/text/nearest.ts';
import { ACTOR_KIND } from './actor-document.ts';
import { isFlowsFile } from './flow-document.ts';
import type { YamlDocument } from './yaml-document.ts';

/** Fields of an actor's `spec` that documents of other tools hardly have without a `kind`. */
const ACTOR_FIELDS = ['actor', 'handler', 'resiliency'];

/**
 * Whether a document is meant for the mesh, even if it is misspelt. Others belong to other tools: compose files,
 * workflows, Kubernetes resources, templates.
 */
export function isOwnDocument({ file, value, isBroken }: YamlDocument, text: string): boolean {
  if (isFields(value) && isOwnMap(value)) return true;
  if (isFlowsFile(file) && !(isFields(value) && isOfKubernetes(value))) return true;
  return (isBroken || typeof value === 'string') && namesOurs(text);
}

function isOfKubernetes(value: Readonly<Record<string, unknown>>): boolean {
  return 'kind' in value || 'apiVersion' in value;
}

function isOwnMap(value: Readonly<Record<string, unknown>>): boolean {
  const { apiVersion, spec } = value;
  if (isOwnGroup(apiVersion)) return true;
  if (Object.values(value).some((one) => typeof one === 'string' && isOwnKind(one))) return true;
  if (Object.values(value).some(isFlowList)) return true;
  return !isOfKubernetes(value) && isFields(spec) && ACTOR_FIELDS.some((field) => field in spec);
}

function isOwnKind(kind: string): boolean {
  return (
    kind.length > ACTOR_KIND.length / 2 &&
    closestWord(kind.replaceAll(/[-_ ]/g, ''), [ACTOR_KIND]) !== undefined
  );
}

/** `asya.sh/v1alpha1`, also with another version or a misspelt group. */
function isOwnGroup(apiVersion: unknown): boolean {
  if (typeof apiVersion !== 'string') return false;
  const [group = ''] = apiVersion.split('/');
  return /asya/i.test(group) || editDistance(group, 'asya.sh') <= MAX_DISTANCE;
}

/** Two swapped letters. The group of KEDA, `keda.sh`, is farther. */
const MAX_DISTANCE = 2;

function isFlowList(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => isFields(item) && 'entrypoint' in item);
}

/** Whether a text that cannot be read as YAML contains an actor. */
export function namesOurs(text: string): boolean {
  const kinds = [...text.matchAll(/\bkind:\s*["']?([\w-]+)/g)];
  return /\bAsyncActor\b|\basya\.sh\//.test(text) || kinds.some(([, kind = '']) => isOwnKind(kind));
}
