import { readFileSync } from 'node:fs';
import { errorText } from '../../lib/core/text/error-text.ts';
import { type Difference, differenceText } from './compare.ts';
import { type Kind, kindOf } from './kinds.ts';
import {
  runBadDuration,
  runConfigError,
  runConfigGood,
  runDecision,
  runDecode,
  runDelay,
  runGoodDuration,
  runPipeline,
} from './run-case.ts';

export interface CaseResult {
  readonly name: string;
  /** Empty if the case passed. */
  readonly differences: readonly string[];
}

// biome-ignore lint/suspicious/noExplicitAny: a case file is external data; each runner declares the type that it expects
type Run = (given: any) => Difference[];

const RUNS: Readonly<Record<Exclude<Kind, 'durations'>, Run>> = {
  decisions: runDecision,
  decode: runDecode,
  delays: runDelay,
  pipeline: runPipeline,
  'config-errors': runConfigError,
  'config-good': runConfigGood,
};

/** Runs every case of a file. Throws if the file cannot be read or its kind is unknown. */
export function runFile(path: string): readonly CaseResult[] {
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'));
  const kind = kindOf(path, content);
  if (kind === undefined)
    throw new Error(`${path}: the kind of cases is unknown; neither the content nor the name identifies it`);
  if (kind === 'durations') return runDurations(content as { good?: { text: string }[]; bad?: unknown[] });
  return (content as { name?: string }[]).map((given, index) =>
    resultOf(given.name ?? `${kind}-${index}`, RUNS[kind], given),
  );
}

function runDurations({
  good = [],
  bad = [],
}: {
  good?: { text: string }[];
  bad?: unknown[];
}): readonly CaseResult[] {
  return [
    ...good.map((given) => resultOf(`good ${JSON.stringify(given.text)}`, runGoodDuration, given)),
    ...bad.map((given) => resultOf(`bad ${JSON.stringify(given)}`, runBadDuration, given)),
  ];
}

function resultOf(name: string, run: Run, given: unknown): CaseResult {
  try {
    return { name, differences: run(given).map(differenceText) };
  } catch (error) {
    return { name, differences: [`it threw: ${errorText(error)}`] };
  }
}
