import { defined } from '../../core/text/defined.ts';
import { describeReceived } from '../../core/text/describe-value.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, isMisspelt, type MistakeCollector } from '../../core/text/mistake.ts';
import { readActorResiliency } from './actor-resiliency.ts';
import { readEnvironment, readSecrets } from './handler-variables.ts';
import { readAnnotations, readLabels } from './labels.ts';
import type { ActorSpec, RuntimeSpec } from './manifest.ts';
import {
  namesIn,
  optional,
  type Reference,
  readList,
  readMap,
  readName,
  readNamespace,
  readText,
} from './manifest-field.ts';
import { readMemoryMb } from './memory.ts';
import { ACCESS_FIELDS, readAccess } from './read-access.ts';
import { readRuntime } from './runtime-spec.ts';
import { readScaling } from './scaling.ts';
import type { YamlDocument } from './yaml-document.ts';

export const ACTOR_KIND = 'AsyncActor';
const API_VERSION = 'asya.sh/v1alpha1';
const API_GROUP = 'asya.sh/';

const DOCUMENT_FIELDS = ['apiVersion', 'kind', 'metadata', 'spec'] as const;
const METADATA_FIELDS = ['name', 'namespace', 'labels', 'annotations'] as const;
const SPEC_FIELDS = [
  'actor',
  'handler',
  'runtime',
  'image',
  'url',
  'resiliency',
  'scaling',
  'memory',
  'environment',
  'secrets',
  ...ACCESS_FIELDS,
  'next',
] as const;

const DEFAULT_MEMORY_MB = 512;

/** Why a handler cannot be used. */
interface HandlerProblem {
  readonly problem: string;
  /** The mesh may start without this handler: its actor reports the problem too. */
  readonly isWarning: boolean;
}

/** Checks that a handler exists. Passed in, because reading is pure. */
export type HandlerCheck = (runtime: RuntimeSpec, file: string) => HandlerProblem | undefined;

export interface ActorReading {
  /** Contains placeholders if there were mistakes; do not use it then. */
  readonly actor: ActorSpec;
  /** Collects mistakes at its name. */
  readonly named: MistakeCollector;
  readonly references: readonly Reference[];
  /** A problem of the handler that is not a mistake. */
  readonly handlerWarning?: string;
}

/** Whether the document is meant to be an actor, so that the rest of it is worth checking. */
export function isActorDocument(value: Fields): boolean {
  const { apiVersion, kind } = value;
  return kind === ACTOR_KIND || (typeof apiVersion === 'string' && apiVersion.startsWith(API_GROUP));
}

/** The actor's name in a document that is not valid otherwise: other documents may refer to it. */
export function actorNameIn(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const { spec, metadata } = value;
  const names = [
    isFields(spec) ? spec['actor'] : undefined,
    isFields(metadata) ? metadata['name'] : undefined,
  ];
  return names.find((name) => typeof name === 'string');
}

/** Checks `apiVersion` and `kind`. */
export function checkKind(value: Fields, notes: MistakeCollector): void {
  const { apiVersion, kind } = value;
  if (apiVersion !== API_VERSION) {
    notes.at('apiVersion').add(`${describeReceived(apiVersion)}; expected "${API_VERSION}"`);
  }
  if (kind !== ACTOR_KIND) {
    notes.at('kind').add(`${describeReceived(kind)}; expected "${ACTOR_KIND}"`);
  }
}

/** Reads an `AsyncActor` document and reports all its mistakes. */
export function readActor(
  value: Fields,
  document: YamlDocument,
  notes: MistakeCollector,
  checkHandler: HandlerCheck,
): ActorReading {
  checkKind(value, notes);
  addUnknownKeys(notes, value, DOCUMENT_FIELDS);
  const spec = readMap(value['spec'], notes.at('spec'));
  const metadata = optional(value['metadata'], notes.at('metadata'), readMap, undefined) as
    | Fields
    | undefined;
  // Wrong metadata, and a missing spec, are one mistake each. Their missing fields are not reported as well.
  const isNameUnknown =
    (value['metadata'] !== undefined && metadata === undefined) ||
    spec === undefined ||
    isMisspelt(value, DOCUMENT_FIELDS, 'metadata') ||
    isMisspelt(spec, SPEC_FIELDS, 'actor');
  const { name, named } = readActorName(metadata ?? {}, spec?.['actor'], isNameUnknown, notes);
  const labels = readMetadata(metadata ?? {}, document, notes.at('metadata'));
  const inSpec = spec === undefined ? IGNORED : notes.at('spec');
  return { ...readSpec({ name, labels }, spec ?? {}, document, inSpec, checkHandler), named };
}

/** Returns the labels. A namespace and annotations are checked and have no effect. */
function readMetadata(fields: Fields, document: YamlDocument, notes: MistakeCollector): ActorSpec['labels'] {
  addUnknownKeys(notes, fields, METADATA_FIELDS);
  const writtenIn = (field: string) => (key: string) => document.writtenAt(['metadata', field, key]);
  const { namespace, labels, annotations } = fields;
  optional(namespace, notes.at('namespace'), readNamespace, undefined);
  readAnnotations(annotations, writtenIn('annotations'), notes.at('annotations'));
  return readLabels(labels, writtenIn('labels'), notes.at('labels'));
}

function readActorName(
  fields: Fields,
  actor: unknown,
  isNameUnknown: boolean,
  notes: MistakeCollector,
): { name: string; named: MistakeCollector } {
  const inMetadata = notes.at('metadata').at('name');
  if (actor === undefined) {
    if (fields['name'] === undefined && isNameUnknown) return { name: '', named: IGNORED };
    return { name: readName()(fields['name'], inMetadata) ?? '', named: inMetadata };
  }
  if (fields['name'] !== undefined) readText(fields['name'], inMetadata);
  const named = notes.at('spec').at('actor');
  return { name: readName()(actor, named) ?? '', named };
}

function readSpec(
  { name, labels }: Pick<ActorSpec, 'name' | 'labels'>,
  spec: Fields,
  document: YamlDocument,
  notes: MistakeCollector,
  checkHandler: HandlerCheck,
): Omit<ActorReading, 'named'> {
  addUnknownKeys(notes, spec, SPEC_FIELDS);
  const { file } = document;
  const runtime = readRuntime(spec, notes);
  const found = runtime === undefined ? undefined : checkHandler(runtime, file);
  if (found?.isWarning === false) notes.at('handler').add(found.problem);
  const handlerWarning = found?.isWarning ? found.problem : undefined;
  const next = optional(spec['next'], notes.at('next'), readList, []).map((item, index) => ({
    name: item,
    notes: notes.at('next').at(index),
  }));
  const { references, ...times } = readActorResiliency(spec['resiliency'], name, notes.at('resiliency'));
  const environment = readEnvironment(spec['environment'], document, notes.at('environment'));
  const secrets = readSecrets(spec['secrets'], { document, environment, runtime }, notes.at('secrets'));
  const actor: ActorSpec = {
    name,
    file,
    labels,
    runtime: runtime ?? NO_RUNTIME,
    ...times,
    scaling: readScaling(spec['scaling'], notes.at('scaling')),
    memoryMb: optional(spec['memory'], notes.at('memory'), readMemoryMb, DEFAULT_MEMORY_MB),
    environment,
    ...defined({
      secrets,
      access: readAccess(spec, runtime, isMisspelt(spec, SPEC_FIELDS, 'buckets'), notes),
    }),
    next: namesIn(next),
  };
  return { actor, references: [...references, ...next], ...defined({ handlerWarning }) };
}

const NO_RUNTIME: RuntimeSpec = { kind: 'node', handler: '' };
const IGNORED: MistakeCollector = { place: '', add: () => {}, at: () => IGNORED };
