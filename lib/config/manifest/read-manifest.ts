import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { addAccessWarnings } from './access-warnings.ts';
import {
  ACTOR_KIND,
  type ActorReading,
  actorNameIn,
  checkKind,
  type HandlerCheck,
  isActorDocument,
  readActor,
} from './actor-document.ts';
import { withoutConsequences } from './consequences.ts';
import { type FlowReading, isFlowsFile, readFlows } from './flow-document.ts';
import { addFlowWarnings } from './flow-warnings.ts';
import { type LocatedMistake, locatedCollector } from './located-mistake.ts';
import type { Manifest } from './manifest.ts';
import { checkReference } from './manifest-field.ts';
import { isOwnDocument } from './own-document.ts';
import { addRuleWarnings } from './rule-warnings.ts';
import { addScalingWarnings } from './scaling-warnings.ts';
import { type ManifestFile, readYaml, type YamlDocument } from './yaml-document.ts';

export type ManifestReading =
  | {
      readonly manifest: Manifest;
      readonly warnings: readonly LocatedMistake[];
      /** Files without a document of the mesh. They belong to other tools. */
      readonly ignored: readonly string[];
    }
  /** All mistakes, ordered by file and line. */
  | {
      readonly mistakes: readonly [LocatedMistake, ...LocatedMistake[]];
      readonly warnings: readonly LocatedMistake[];
      readonly ignored: readonly string[];
    };

/** The result of reading one document. */
interface Part {
  readonly document: YamlDocument;
  readonly actor?: ActorReading;
  readonly flows?: readonly FlowReading[];
  /** The name of an actor whose document is not valid. */
  readonly declaredName?: string;
  /** The document may declare an actor whose name could not be read. */
  readonly isNameUnknown?: true;
}

/** Reads a mesh from all YAML files of its folder. A folder without `flows.yaml` has no flows. */
export function readManifest(
  files: readonly ManifestFile[],
  checkHandler: HandlerCheck = () => undefined,
): ManifestReading {
  const mistakes: LocatedMistake[] = [];
  const parts = files.flatMap((file) =>
    readYaml(file).flatMap((document) => {
      if (!isOwnDocument(document, file.text)) return [];
      mistakes.push(...document.mistakes);
      const before = mistakes.length;
      const part = readPart(document, mistakes, checkHandler);
      return { ...part, isSound: mistakes.length === before };
    }),
  );
  const actors = parts.flatMap(({ actor }) => actor ?? []);
  const flows = parts.flatMap(({ document, flows: some = [] }) =>
    some.map((flow) => ({ ...flow, document })),
  );
  reportDuplicates(actors, ({ actor }) => actor.name, 'actor names must be unique');
  reportDuplicates(flows, ({ flow }) => flow.name, 'flow names must be unique');
  const known = knownNames(parts);
  for (const { references } of [...actors, ...flows]) {
    for (const reference of references) checkReference(reference, known);
  }
  const warnings: LocatedMistake[] = [];
  // A warning that depends on an invalid value could be wrong.
  const sound = parts.flatMap(({ actor, isSound }) => (actor !== undefined && isSound ? actor : []));
  const byName = new Map(sound.map(({ actor }) => [actor.name, actor]));
  for (const { flow, index, document, isTimeoutInvalid } of flows) {
    if (isTimeoutInvalid) continue;
    addFlowWarnings(flow, byName, locatedCollector(document, warnings, ['flows', index]));
  }
  for (const { document, actor, isSound } of parts) {
    if (actor === undefined) continue;
    const notes = locatedCollector(document, warnings, ['spec']);
    if (isSound) addAccessWarnings(actor.actor, notes);
    if (isSound) addScalingWarnings(actor.actor, notes);
    const runtime = isSound ? actor.actor.runtime.kind : undefined;
    addRuleWarnings(rulesIn(document.value), runtime, notes.at('resiliency').at('rules'));
    if (actor.handlerWarning !== undefined) notes.at('handler').add(actor.handlerWarning);
  }
  const [first, ...others] = inOrder(withoutConsequences(mistakes), files);
  const own = new Set(parts.map(({ document }) => document.file));
  const ignored = files.map(({ path }) => path).filter((path) => !own.has(path));
  if (first !== undefined)
    return { mistakes: [first, ...others], warnings: inOrder(warnings, files), ignored };
  return {
    manifest: { actors: actors.map(({ actor }) => actor), flows: flows.map(({ flow }) => flow) },
    warnings: inOrder(warnings, files),
    ignored,
  };
}

function readPart(document: YamlDocument, mistakes: LocatedMistake[], checkHandler: HandlerCheck): Part {
  const { value, file } = document;
  const notes = locatedCollector(document, mistakes);
  const isOfFlows = isFlowsFile(file) && !(isFields(value) && ('kind' in value || 'apiVersion' in value));
  if (isOfFlows) return document.isBroken ? { document } : { document, flows: readFlows(value, notes) };
  if (document.isBroken) return { document, ...nameOnly(value) };
  if (!isFields(value)) {
    notes.add(`is ${describeValue(value)}; expected a document of kind "${ACTOR_KIND}"`);
    return { document };
  }
  if (isActorDocument(value)) return { document, actor: readActor(value, document, notes, checkHandler) };
  if ('flows' in value && !('kind' in value)) {
    notes.at('flows').add(`is in "${file}"; flows are read from flows.yaml`);
    return { document };
  }
  checkKind(value, notes);
  return { document, ...nameOnly(value) };
}

/** The rules of an actor as they are written. */
function rulesIn(value: unknown): unknown {
  const spec = isFields(value) ? value['spec'] : undefined;
  const resiliency = isFields(spec) ? spec['resiliency'] : undefined;
  return isFields(resiliency) ? resiliency['rules'] : undefined;
}

function nameOnly(value: unknown): Pick<Part, 'declaredName' | 'isNameUnknown'> {
  const declaredName = actorNameIn(value);
  return declaredName === undefined ? { isNameUnknown: true } : { declaredName };
}

/** Undefined if not every name could be read: a reference may then be to one of those. */
function knownNames(parts: readonly Part[]): ReadonlySet<string> | undefined {
  const isNameUnknown = parts.some((part) => part.isNameUnknown || part.actor?.actor.name === '');
  const names = parts.flatMap(({ actor, declaredName }) => [actor?.actor.name ?? declaredName ?? []].flat());
  return isNameUnknown ? undefined : new Set(names);
}

function reportDuplicates<T extends { readonly named: MistakeCollector }>(
  readings: readonly T[],
  nameOf: (reading: T) => string,
  rule: string,
): void {
  const firsts = new Map<string, T>();
  for (const reading of readings) {
    const name = nameOf(reading);
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, reading);
    else if (name !== '')
      reading.named.add(`is "${name}", which is already used at ${first.named.place}; ${rule}`);
  }
}

function inOrder(
  mistakes: readonly LocatedMistake[],
  files: readonly ManifestFile[],
): readonly LocatedMistake[] {
  const rank = new Map(files.map(({ path }, index) => [path, index]));
  const rankOf = ({ file }: LocatedMistake) => rank.get(file) ?? 0;
  return mistakes.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
}
