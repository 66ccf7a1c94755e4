import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import type { Fields } from '../../core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import {
  type ActorAccess,
  bucketIn,
  bucketReference,
  LOCAL_AWS,
  type LocalAws,
  type Permission,
} from './access.ts';
import type { RuntimeSpec } from './manifest.ts';
import { optional, type ReadField, readList, readMap } from './manifest-field.ts';

/** The fields of `spec` that are read here. */
export const ACCESS_FIELDS = ['permissions', 'buckets', 'local'] as const;

const PERMISSION_FIELDS = ['actions', 'resources'] as const;
const LOCAL_FIELDS = ['aws'] as const;

/** `s3:PutObject`, `s3:Get*`, `*:*`. */
const ACTION = /^([a-z0-9-]+:[A-Za-z0-9*?]+|\*:\*)$/;
/** `arn:partition:service:region:account:resource` */
const ARN = /^arn:[\w*-]+:[\w*-]+:[\w*-]*:[\w*]*:.+$/;
/** The name becomes part of a variable, and locally the name of the bucket. */
const BUCKET_NAME = /^[a-z][a-z0-9-]{1,30}[a-z0-9]$/;

/** Reads `permissions`, `buckets` and `local`. Undefined if the document has none of them. */
export function readAccess(
  spec: Fields,
  runtime: RuntimeSpec | undefined,
  areBucketsMisspelt: boolean,
  notes: MistakeCollector,
): ActorAccess | undefined {
  if (ACCESS_FIELDS.every((field) => spec[field] === undefined)) return undefined;
  const buckets = optional(spec['buckets'], notes.at('buckets'), readBuckets, []);
  const given = spec['buckets'];
  const isValid =
    given === undefined
      ? !areBucketsMisspelt
      : Array.isArray(given) && given.length === buckets.length && given.length > 0;
  const permissions = optional(
    spec['permissions'],
    notes.at('permissions'),
    filledList(readPermission(isValid ? buckets : undefined)),
    [],
  );
  if (runtime?.kind === 'url' && permissions.length > 0)
    notes
      .at('permissions')
      .add(
        'is set, but the runtime of this actor is at a url, and the sidecar cannot give it credentials; give it credentials where it runs, and remove this field',
      );
  return { permissions, buckets, localAws: readLocal(spec['local'], notes.at('local')) };
}

function readLocal(value: unknown, notes: MistakeCollector): LocalAws {
  const fields = optional(value, notes, readMap, {}) as Fields;
  addUnknownKeys(notes, fields, LOCAL_FIELDS);
  return optional(fields['aws'], notes.at('aws'), readLocalAws, 'profile');
}

const readLocalAws: ReadField<LocalAws> = (value, notes) => {
  const known = LOCAL_AWS.find((word) => word === value);
  if (known === undefined) {
    const near = typeof value === 'string' ? suggestion(value, LOCAL_AWS) : '';
    notes.add(`${describeReceived(value)}; expected "profile" or "embedded"${near}`);
  }
  return known;
};

/** A list with at least one item. */
function filledList<T>(readItem: ReadField<T>): ReadField<readonly T[]> {
  return (value, notes) => {
    const list = readList(value, notes);
    if (list?.length === 0) notes.add('is an empty list; add an item, or remove the field');
    return list?.flatMap((item, index) => readItem(item, notes.at(index)) ?? []);
  };
}

const readBuckets: ReadField<readonly string[]> = (value, notes) => {
  const names = filledList(readBucket)(value, notes);
  for (const [index, name] of (names ?? []).entries())
    if (names?.indexOf(name) !== index) notes.at(index).add(`is "${name}", which is already in the list`);
  return names;
};

const readBucket: ReadField<string> = (value, notes) => {
  const isName = typeof value === 'string' && BUCKET_NAME.test(value);
  if (!isName)
    notes.add(
      `${describeReceived(value)}; expected 3 to 32 characters of a-z, 0-9 and "-" that begin with a letter, such as "pictures"; the deployment adds a unique part`,
    );
  else if (value.startsWith('asya-'))
    notes.add(`is "${value}"; names that begin with "asya-" belong to the mesh itself`);
  else return value;
  return undefined;
};

/** Without valid buckets, a resource may name any. */
function readPermission(buckets: readonly string[] | undefined): ReadField<Permission> {
  return (value, notes) => {
    const fields = readMap(value, notes);
    if (fields === undefined) return undefined;
    addUnknownKeys(notes, fields, PERMISSION_FIELDS);
    return {
      actions: filledList(readAction)(fields['actions'], notes.at('actions')) ?? [],
      resources: filledList(readResource(buckets))(fields['resources'], notes.at('resources')) ?? [],
    };
  };
}

const readAction: ReadField<string> = (value, notes) => {
  if (typeof value === 'string' && ACTION.test(value)) return value;
  const [, service, action] = /^([A-Za-z0-9-]+)[:./ ]+([A-Za-z0-9*?]+)$/.exec(String(value)) ?? [];
  const near = service === undefined ? '' : `; did you mean "${service.toLowerCase()}:${action}"?`;
  notes.add(
    `${describeReceived(value)}; expected an IAM action with its service, such as "s3:PutObject"${near}`,
  );
  return undefined;
};

const RESOURCE_RULE = `expected an ARN, "*", or a bucket of the mesh such as "${bucketReference('pictures', '/*')}"`;

function readResource(buckets: readonly string[] | undefined): ReadField<string> {
  return (value, notes) => {
    if (typeof value === 'string') {
      const named = bucketIn(value);
      if (named !== undefined && (buckets === undefined || buckets.includes(named.bucket))) return value;
      if (named !== undefined && buckets !== undefined) {
        const near = buckets.length > 0 ? suggestion(named.bucket, buckets) : '; add it to spec.buckets';
        notes.add(`names the bucket ${describeValue(named.bucket)}, which is not in spec.buckets${near}`);
        return undefined;
      }
      if (value === '*' || (ARN.test(value) && !value.includes('${'))) return value;
    }
    notes.add(`${describeReceived(value)}; ${RESOURCE_RULE}${resourceSuggestion(value, buckets ?? [])}`);
    return undefined;
  };
}

function resourceSuggestion(value: unknown, buckets: readonly string[]): string {
  const text = typeof value === 'string' ? value : '';
  const [, name = '', objects = '/*'] = /^(?:s3:\/\/)?([\w.-]+)(\/.*)?$/.exec(text) ?? [];
  if (buckets.includes(name)) return `; did you mean "${bucketReference(name, objects)}"?`;
  return text.startsWith('s3://') && name !== '' ? `; did you mean "arn:aws:s3:::${name}${objects}"?` : '';
}
