import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { wholeSecond } from '../../../assembly/simulation/mesh-scenario.ts';
import type { Headers } from '../../../core/envelope/envelope.ts';
import { withHeader } from '../../../core/envelope/headers.ts';
import { describeJsonError, type JsonText, readJson } from '../../../core/text/json-text.ts';
import { instantMs, TIMESTAMP_RULE } from '../../../core/text/timestamp.ts';
import { oneLine } from '../../output/plain-text.ts';
import { UsageError } from '../../usage-error.ts';

/** The start time: `--at`, or now in whole seconds. */
export function startFrom(at: string | undefined, now: () => number): number {
  if (at === undefined) return wholeSecond(now());
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
