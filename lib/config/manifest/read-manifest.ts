import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import {
  ACTOR_KIND,
  type ActorReading,
  actorNameIn,
  type HandlerCheck,
  isActorDocument,
  noteKind,
  readActor,
} from './actor-document.ts';
import { type FlowReading, isFlowsFile, readFlows } from './flow-document.ts';
import { noteFlowWarnings } from './flow-warnings.ts';
import type { Manifest } from './manifest.ts';
import { noteReference } from './manifest-field.ts';
import { type PlacedMistake, placedNotes } from './placed-mistake.ts';
import { type ManifestFile, readYaml, type YamlDocument } from './yaml-document.ts';

export type ManifestReading =
  | { readonly manifest: Manifest; readonly warnings: readonly PlacedMistake[] }
  /** Every mistake there is, in the order of the files and their lines. */
  | {
      readonly mistakes: readonly [PlacedMistake, ...PlacedMistake[]];
      readonly warnings: readonly PlacedMistake[];
    };

/** What one document gave. */
interface Part {
  readonly document: YamlDocument;
  readonly actor?: ActorReading;
  readonly flows?: readonly FlowReading[];
  /** An actor by this name is meant, though its document cannot be used. */
  readonly heardOf?: string;
  /** There may be an actor whose name could not be read. */
  readonly isUnclear?: true;
}

/** A mesh from every YAML file of its folder. Pure; a folder without `flows.yaml` has no flows. */
export function readManifest(
  files: readonly ManifestFile[],
  checkHandler: HandlerCheck = () => undefined,
): ManifestReading {
  const mistakes: PlacedMistake[] = [];
  const parts = files.flatMap((file) =>
    readYaml(file, mistakes).map((document) => readPart(document, mistakes, checkHandler)),
  );
  const actors = parts.flatMap(({ actor }) => actor ?? []);
  const flows = parts.flatMap(({ document, flows: some = [] }) =>
    some.map((flow) => ({ ...flow, document })),
  );
  noteDuplicates(actors, ({ actor }) => actor.name, 'an actor has one document');
  noteDuplicates(flows, ({ flow }) => flow.name, 'a flow has one entry');
  const known = knownNames(parts);
  for (const { references } of [...actors, ...flows]) {
    for (const reference of references) noteReference(reference, known);
  }
  const warnings: PlacedMistake[] = [];
  const byName = new Map(actors.map(({ actor }) => [actor.name, actor]));
  for (const { flow, index, document } of flows) {
    noteFlowWarnings(flow, byName, placedNotes(document, warnings, ['flows', index]));
  }
  const [first, ...others] = inOrder(mistakes, files);
  if (first !== undefined) return { mistakes: [first, ...others], warnings: inOrder(warnings, files) };
  return {
    manifest: { actors: actors.map(({ actor }) => actor), flows: flows.map(({ flow }) => flow) },
    warnings: inOrder(warnings, files),
  };
}

function readPart(document: YamlDocument, mistakes: PlacedMistake[], checkHandler: HandlerCheck): Part {
  const { value, file } = document;
  const notes = placedNotes(document, mistakes);
  const isOfFlows = isFlowsFile(file) && !(isFields(value) && ('kind' in value || 'apiVersion' in value));
  if (isOfFlows) return document.isBroken ? { document } : { document, flows: readFlows(value, notes) };
  if (document.isBroken) return { document, ...nameAlone(value) };
  if (!isFields(value)) {
    notes.add(`is ${describeValue(value)}, no document of kind "${ACTOR_KIND}"`);
    return { document };
  }
  if (isActorDocument(value)) return { document, actor: readActor(value, document, notes, checkHandler) };
  if ('flows' in value && !('kind' in value)) {
    notes.at('flows').add(`stands in "${file}"; flows are read from flows.yaml`);
    return { document };
  }
  noteKind(value, notes);
  return { document, ...nameAlone(value) };
}

function nameAlone(value: unknown): Pick<Part, 'heardOf' | 'isUnclear'> {
  const heardOf = actorNameIn(value);
  return heardOf === undefined ? { isUnclear: true } : { heardOf };
}

/** Undefined where not every name could be read: nobody can say then who is missing. */
function knownNames(parts: readonly Part[]): ReadonlySet<string> | undefined {
  const isUnclear = parts.some((part) => part.isUnclear || part.actor?.actor.name === '');
  const names = parts.flatMap(({ actor, heardOf }) => [actor?.actor.name ?? heardOf ?? []].flat());
  return isUnclear ? undefined : new Set(names);
}

function noteDuplicates<T extends { readonly named: MistakeCollector }>(
  readings: readonly T[],
  nameOf: (reading: T) => string,
  rule: string,
): void {
  const firsts = new Map<string, T>();
  for (const reading of readings) {
    const name = nameOf(reading);
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, reading);
    else if (name !== '') reading.named.add(`is "${name}", and so is ${first.named.place}; ${rule}`);
  }
}

function inOrder(
  mistakes: readonly PlacedMistake[],
  files: readonly ManifestFile[],
): readonly PlacedMistake[] {
  const rank = new Map(files.map(({ path }, index) => [path, index]));
  const rankOf = ({ file }: PlacedMistake) => rank.get(file) ?? 0;
  return mistakes.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
}
