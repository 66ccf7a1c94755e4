import { durationMs } from '../../core/text/duration.ts';
import { addUnknownKeys, isMisspelt, type MistakeCollector } from '../../core/text/mistake.ts';
import type { Scaling } from './manifest.ts';
import { optional, readMap, wholeNumberFrom, wholeSecondsFrom } from './manifest-field.ts';

const FIELDS = ['maxReplicas', 'batchSize', 'batchWindow', 'concurrency'] as const;

/** The limits of Lambda's event sources. */
const MAX_REPLICAS = 1_000;
const MAX_IN_A_BATCH = 10_000;
const MAX_WINDOW_SECONDS = 300;
/** One receive returns at most 10 messages. A larger batch needs a window to collect them. */
const MAX_WITHOUT_WINDOW = 10;

const MAX_CALLS_AT_ONCE = 1_000;

export function readScaling(value: unknown, notes: MistakeCollector): Scaling {
  const fields = optional(value, notes, readMap, {});
  addUnknownKeys(notes, fields, FIELDS);
  const { maxReplicas, batchSize, batchWindow, concurrency } = fields as Record<string, unknown>;
  const scaling: Scaling = {
    maxReplicas: optional(maxReplicas, notes.at('maxReplicas'), wholeNumberFrom(1, MAX_REPLICAS), 10),
    batchSize: optional(batchSize, notes.at('batchSize'), wholeNumberFrom(1, MAX_IN_A_BATCH), 1),
    batchWindowSeconds: optional(
      batchWindow,
      notes.at('batchWindow'),
      wholeSecondsFrom(0, MAX_WINDOW_SECONDS),
      0,
    ),
    concurrency: optional(concurrency, notes.at('concurrency'), wholeNumberFrom(1, MAX_CALLS_AT_ONCE), 1),
  };
  const isWindowValid =
    batchWindow === undefined ? !isMisspelt(fields, FIELDS, 'batchWindow') : durationMs(batchWindow) === 0;
  if (scaling.batchSize > MAX_WITHOUT_WINDOW && scaling.batchWindowSeconds === 0 && isWindowValid) {
    const problem = `is ${scaling.batchSize}; more than ${MAX_WITHOUT_WINDOW} needs a batchWindow of "1s" or more`;
    notes.at('batchSize').add(problem);
  }
  return scaling;
}
