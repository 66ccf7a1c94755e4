import { defined } from '../../core/text/defined.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { readSecretReference, variableNameProblem } from '../settings/secret-reference.ts';
import type { ActorSpec, RuntimeSpec, SecretSpec } from './manifest.ts';
import { optional, type ReadField, readMap } from './manifest-field.ts';
import type { YamlDocument } from './yaml-document.ts';

/** Reads `spec.environment`: variables of the handler with their values. */
export function readEnvironment(
  value: unknown,
  document: YamlDocument,
  notes: MistakeCollector,
): ActorSpec['environment'] {
  const fields = optional(value, notes, readMap, {});
  return Object.fromEntries(
    Object.entries(fields).map(([name, content]) => {
      const here = notes.at(name);
      checkName(name, here);
      return [name, variableText(content, document.writtenAt(['spec', 'environment', name]), here)];
    }),
  );
}

function checkName(name: string, notes: MistakeCollector): void {
  const problem = variableNameProblem(name);
  if (problem !== undefined) notes.add(problem);
}

/** Keeps numbers and flags as they are written: version 1.10 is not 1.1. */
function variableText(content: unknown, written: string | undefined, notes: MistakeCollector): string {
  if (typeof content === 'string') return content;
  if (typeof content === 'number' || typeof content === 'boolean') return written ?? String(content);
  notes.add(
    `is ${describeValue(content)}; expected text, a number, true or false; use "" for an empty value`,
  );
  return '';
}

interface SecretsContext {
  readonly document: YamlDocument;
  readonly environment: ActorSpec['environment'];
  /** Undefined if the document has mistakes in it. */
  readonly runtime: RuntimeSpec | undefined;
}

/** Reads `spec.secrets`: variables of the handler, with references to their values. Undefined if there are none. */
export function readSecrets(
  value: unknown,
  { document, environment, runtime }: SecretsContext,
  notes: MistakeCollector,
): ActorSpec['secrets'] {
  const entries = Object.entries(optional(value, notes, readMap, {}));
  if (entries.length === 0) return undefined;
  if (runtime?.kind === 'url')
    notes.add('cannot be used with a url: the sidecar passes secrets only to a runtime that it starts');
  const secrets = entries.flatMap(([name, content]): [string, SecretSpec][] => {
    const here = notes.at(name);
    checkName(name, here);
    if (Object.hasOwn(environment, name)) here.add('is also in spec.environment; keep one of them');
    const reference = readSecretReference(content, here, ['kmsKey']);
    const given = isFields(content) ? content['kmsKey'] : undefined;
    const kmsKey = optional(given, here.at('kmsKey'), readKeyArn, undefined);
    const { line } = document.positionOf(['spec', 'secrets', name]);
    return reference === undefined ? [] : [[name, { reference, ...defined({ kmsKey }), line }]];
  });
  return Object.fromEntries(secrets);
}

const KEY_ARN = /^arn:aws[\w-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/;

/** A permission names the key itself; IAM ignores the ARN of an alias. */
const readKeyArn: ReadField<string> = (value, notes) => {
  if (typeof value === 'string' && KEY_ARN.test(value)) return value;
  notes.add(
    `is ${describeValue(value)}; expected the ARN of a key, not of an alias, such as "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"`,
  );
  return undefined;
};
