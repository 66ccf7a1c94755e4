import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Headers } from '../../../core/envelope/envelope.ts';
import { withHeader } from '../../../core/envelope/headers.ts';
import { describeJsonError, type JsonText, readJson } from '../../../core/text/json-text.ts';
import { instantMs, TIMESTAMP_RULE } from '../../../core/text/timestamp.ts';
import type { Random } from '../../../ports/clock.ts';
import { oneLine } from '../../output/plain-text.ts';
import { UsageError } from '../../usage-error.ts';

/** The start time: `--at`, or now in whole seconds. */
export function startFrom(at: string | undefined, now: () => number): number {
  if (at === undefined) return Math.floor(now() / 1000) * 1000;
  const instant = instantMs(at);
  if (instant === undefined) throw new UsageError(`asya: --at is "${at}"; ${TIMESTAMP_RULE}`);
  return instant;
}

export function seedFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`asya: --seed is "${text}"; expected a whole number of at most 9 digits, e.g. 7`);
  return Number(text);
}

/** Random numbers for jitter: always 0.5 without a seed, otherwise a repeatable sequence (mulberry32). */
export function randomFrom(seed: number | undefined): Random {
  if (seed === undefined) return () => 0.5;
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const stirred = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((stirred ^ (stirred >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Parses `event_time=2026-01-01T00:00:00Z`, and adds the result to `headers`. */
export function headersFrom(texts: readonly string[] = [], headers: Headers): Headers {
  return texts.reduce((all, text) => {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined)
      throw new UsageError(`asya: --header is "${text}"; expected NAME=VALUE, e.g. "_on_error=review"`);
    return withHeader(all, name, value);
  }, headers);
}

/** JSON, or the name of a JSON file. */
export function payloadFrom(text: string | undefined, cwd: string): JsonText {
  const json = readJson(text ?? '{}');
  if (json.kind !== 'invalid') return json.text;
  const content = readJsonFile(resolve(cwd, text ?? ''));
  if (content === undefined)
    throw new UsageError(
      `asya: --payload is "${oneLine(text ?? '', 100)}", which is neither JSON (${describeJsonError(text ?? '', json.at)}) nor a file`,
    );
  const inside = readJson(content);
  if (inside.kind !== 'invalid') return inside.text;
  throw new UsageError(`asya: --payload ${text} is not JSON: ${describeJsonError(content, inside.at)}`);
}

function readJsonFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
