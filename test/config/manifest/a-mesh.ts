import type { ActorSpec, Manifest } from '../../../lib/config/manifest/manifest.ts';
import { type ManifestReading, readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import type { ManifestFile } from '../../../lib/config/manifest/yaml-document.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';

/** Texts by path: `{ 'score.yaml': '...' }`. */
export type Texts = Readonly<Record<string, string>>;

export function filesOf(texts: Texts): readonly ManifestFile[] {
  return Object.entries(texts).map(([path, text]) => ({ path, text }));
}

/** Five lines, followed by the lines of the spec. The first line of the spec is line 6. */
export function actorText(name: string, ...spec: readonly string[]): string {
  const lines = [
    'apiVersion: asya.sh/v1alpha1',
    'kind: AsyncActor',
    `metadata: {name: ${name}}`,
    '#',
    'spec:',
    ...spec.map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

export function python(name: string, ...spec: readonly string[]): string {
  return actorText(name, 'handler: module.handle', ...spec);
}

export function manifestOf(texts: Texts): Manifest {
  const reading = readManifest(filesOf(texts));
  if ('mistakes' in reading) throw new Error(`refused:\n${mistakesText(reading.mistakes)}`);
  return reading.manifest;
}

/** An actor called `score`, in Python, with these lines in its spec. */
export function actorOf(...spec: readonly string[]): ActorSpec {
  const { actors } = manifestOf({
    'score.yaml': python('score', ...spec),
    'store.yaml': python('store'),
  });
  const [actor] = actors;
  if (actor === undefined) throw new Error('no actor was read');
  return actor;
}

/** One line per mistake. Empty if there are none. */
export function mistakesIn(texts: Texts): readonly string[] {
  return mistakeLines(readManifest(filesOf(texts)));
}

export function mistakeLines(reading: ManifestReading): readonly string[] {
  return 'mistakes' in reading ? reading.mistakes.map(({ place, problem }) => `${place}: ${problem}`) : [];
}

export function warningsIn(texts: Texts): readonly string[] {
  const { warnings } = readManifest(filesOf(texts));
  return warnings.length === 0 ? [] : mistakesText(warnings).split('\n');
}
