import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { readActorResiliency } from './actor-resiliency.ts';
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
  'next',
] as const;

const DEFAULT_MEMORY_MB = 512;

/** Why a handler's file is not there, in words that follow its place; undefined where it is. Files are handed in. */
export type HandlerCheck = (runtime: RuntimeSpec, file: string) => string | undefined;

export interface ActorReading {
  /** Where mistakes were noted it holds stand-ins, and is not for use. */
  readonly actor: ActorSpec;
  /** Where its name stands. */
  readonly named: MistakeCollector;
  readonly references: readonly Reference[];
}

/** Whether it is meant to be an actor's, so that the rest of it is worth reading. */
export function isActorDocument(value: Fields): boolean {
  const { apiVersion, kind } = value;
  return kind === ACTOR_KIND || (typeof apiVersion === 'string' && apiVersion.startsWith(API_GROUP));
}

/** The name in a document that cannot be read otherwise: others may speak of it all the same. */
export function actorNameIn(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const { spec, metadata } = value;
  const names = [
    isFields(spec) ? spec['actor'] : undefined,
    isFields(metadata) ? metadata['name'] : undefined,
  ];
  return names.find((name) => typeof name === 'string');
}

/** `apiVersion` and `kind`, which say whose document it is. */
export function noteKind(value: Fields, notes: MistakeCollector): void {
  const { apiVersion, kind } = value;
  if (apiVersion !== API_VERSION) {
    notes.at('apiVersion').add(`${describeReceived(apiVersion)}; it has to be "${API_VERSION}"`);
  }
  if (kind !== ACTOR_KIND) {
    const meant = typeof kind === 'string' ? suggestion(kind, [ACTOR_KIND]) : '';
    notes
      .at('kind')
      .add(`${describeReceived(kind)}; the documents of a mesh are of kind "${ACTOR_KIND}"${meant}`);
  }
}

/** An `AsyncActor` document, with every mistake in it noted. */
export function readActor(
  value: Fields,
  document: YamlDocument,
  notes: MistakeCollector,
  checkHandler: HandlerCheck,
): ActorReading {
  noteKind(value, notes);
  addUnknownKeys(notes, value, DOCUMENT_FIELDS);
  const spec = readMap(value['spec'], notes.at('spec'));
  const metadata = optional(value['metadata'], notes.at('metadata'), readMap, {}) as Fields;
  const { name, named } = readActorName(metadata, spec?.['actor'], notes);
  const labels = readMetadata(metadata, document, notes.at('metadata'));
  // Where there is no spec, that is the mistake, and not what it would have to say.
  const inSpec = spec === undefined ? NOWHERE : notes.at('spec');
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
  notes: MistakeCollector,
): { name: string; named: MistakeCollector } {
  const inMetadata = notes.at('metadata').at('name');
  if (actor === undefined) {
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
  const handlerProblem = runtime === undefined ? undefined : checkHandler(runtime, file);
  if (handlerProblem !== undefined) notes.at('handler').add(handlerProblem);
  const next = optional(spec['next'], notes.at('next'), readList, []).map((item, index) => ({
    name: item,
    notes: notes.at('next').at(index),
  }));
  const { references, ...times } = readActorResiliency(spec['resiliency'], name, notes.at('resiliency'));
  const actor: ActorSpec = {
    name,
    file,
    labels,
    runtime: runtime ?? NO_RUNTIME,
    ...times,
    scaling: readScaling(spec['scaling'], notes.at('scaling')),
    memoryMb: optional(spec['memory'], notes.at('memory'), readMemoryMb, DEFAULT_MEMORY_MB),
    environment: readEnvironmentOf(spec['environment'], document, notes.at('environment')),
    next: namesIn(next),
  };
  return { actor, references: [...references, ...next] };
}

const NO_RUNTIME: RuntimeSpec = { kind: 'node', handler: '' };
const NOWHERE: MistakeCollector = { place: '', add: () => {}, at: () => NOWHERE };

const VARIABLE = /^[A-Za-z][A-Za-z0-9_]*$/;

function readEnvironmentOf(
  value: unknown,
  document: YamlDocument,
  notes: MistakeCollector,
): Readonly<Record<string, string>> {
  const fields = optional(value, notes, readMap, {});
  return Object.fromEntries(
    Object.entries(fields).map(([name, content]) => {
      const here = notes.at(name);
      if (/^ASYA_/i.test(name))
        here.add("is the sidecar's: names that begin with ASYA_ are made from this document");
      else if (!VARIABLE.test(name))
        here.add('is no name of a variable: a letter, then letters, digits and "_"');
      return [name, variableText(content, document.writtenAt(['spec', 'environment', name]), here)];
    }),
  );
}

/** Numbers and flags as they are written: a version 1.10 is not 1.1. */
function variableText(content: unknown, written: string | undefined, notes: MistakeCollector): string {
  if (typeof content === 'string') return content;
  if (typeof content === 'number' || typeof content === 'boolean') return written ?? String(content);
  notes.add(`is ${describeValue(content)}; it takes text, a number or a flag, and "" for an empty one`);
  return '';
}
