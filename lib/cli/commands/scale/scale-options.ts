import { ScenarioMistake } from '../../../assembly/simulation/scenario-mistake.ts';
import { scriptsFrom } from '../../../assembly/simulation/scripts-from-text.ts';
import { STORES } from '../../../config/load-model/load.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { MIN_REPLICAS } from '../../../config/plan/settings-limits.ts';
import { EVENT_SOURCE, SQS_REQUEST_BYTES } from '../../../config/scaling/quotas.ts';
import { DEFAULT_CALL_MS, DEFAULT_WORKLOAD, type Workload } from '../../../config/scaling/workload.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { positiveNumberOption, wholeNumberOption } from '../../options/read-option.ts';
import { spanText } from '../../output/times.ts';
import { UsageError } from '../../usage-error.ts';

export interface ScaleOptions {
  readonly rate?: string;
  readonly take?: readonly string[];
  readonly size?: string;
  readonly failed?: string;
  readonly tracked?: string;
  readonly callers?: string;
  readonly crewConcurrency?: string;
  readonly outage?: string;
  readonly tuned?: boolean;
  readonly seed?: string;
  readonly json?: boolean;
}

/** Throws a UsageError if an option is not valid. */
export function workloadFrom(options: ScaleOptions, manifest: Manifest): Workload {
  const { rate, size, failed, tracked, callers } = options;
  const isTracked = manifest.flows.length > 0 ? 1 : 0;
  return {
    ratePerSecond: numberFrom('--rate', rate, DEFAULT_WORKLOAD.ratePerSecond),
    callMs: callsFrom(options, manifest),
    envelopeBytes: size === undefined ? DEFAULT_WORKLOAD.envelopeBytes : bytesFrom(size),
    failedShare: shareFrom('--failed', failed, DEFAULT_WORKLOAD.failedShare),
    trackedShare: shareFrom('--tracked', tracked, isTracked),
    callers: callers === undefined ? DEFAULT_WORKLOAD.callers : wholeFrom('--callers', callers),
  };
}

function callsFrom({ take = [] }: ScaleOptions, { actors }: Manifest): Workload['callMs'] {
  const specs = new Map(actors.map((actor) => [actor.name, actor]));
  try {
    const { scripts } = scriptsFrom({ take: [`${DEFAULT_CALL_MS}ms`, ...take] }, specs, {
      fail: '--fail',
      take: '--take',
    });
    for (const { name, timeoutMs } of actors) {
      const takesMs = scripts.get(name)?.takesMs ?? DEFAULT_CALL_MS;
      // The default is no duration that anyone asked for.
      if (takesMs > timeoutMs && takesMs !== DEFAULT_CALL_MS)
        throw new ScenarioMistake(
          `calls of "${name}" cannot take ${spanText(takesMs)}: its actorTimeout is ${spanText(timeoutMs)}`,
        );
    }
    return (actor) => scripts.get(actor)?.takesMs ?? DEFAULT_CALL_MS;
  } catch (error) {
    throw error instanceof ScenarioMistake ? new UsageError(`asya: ${error.message}`) : error;
  }
}

function numberFrom(name: string, text: string | undefined, fallback: number): number {
  return text === undefined ? fallback : positiveNumberOption(name, text);
}

function wholeFrom(name: string, text: string): number {
  const number = positiveNumberOption(name, text);
  if (Number.isInteger(number)) return number;
  throw new UsageError(`asya: ${name} is "${text}"; expected a whole number above 0`);
}

function bytesFrom(text: string): number {
  const bytes = wholeFrom('--size', text);
  if (bytes <= SQS_REQUEST_BYTES) return bytes;
  throw new UsageError(`asya: --size is "${text}"; SQS accepts at most ${SQS_REQUEST_BYTES} bytes`);
}

function shareFrom(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const percent = /^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (percent >= 0 && percent <= 100) return percent / 100;
  throw new UsageError(`asya: ${name} is "${text}"; expected a percentage from 0 to 100`);
}

/** `crewConcurrency` of the environment. Undefined: its default. */
export function crewReplicasFrom({ crewConcurrency }: ScaleOptions): number | undefined {
  return crewConcurrency === undefined
    ? undefined
    : wholeNumberOption('--crew-concurrency', crewConcurrency, EVENT_SOURCE.max, MIN_REPLICAS);
}

/** The actor or the stores that fail for an hour. */
export function outageFrom({ outage }: ScaleOptions, { actors }: Manifest): string | undefined {
  const known = [...actors.map(({ name }) => name), STORES];
  if (outage === undefined || known.includes(outage)) return outage;
  throw new UsageError(
    `asya: --outage is "${outage}"; expected one of ${known.join(', ')}${suggestion(outage, known)}`,
  );
}
