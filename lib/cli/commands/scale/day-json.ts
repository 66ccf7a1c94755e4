import type { LoadResult, LoadSample } from '../../../config/load-model/load.ts';
import { dollarsOf } from '../../../config/scaling/prices.ts';

/** A day for `--json`: amounts as numbers, functions by name. */
export function dayJson({ samples, total, succeeded, failed, usage }: LoadResult) {
  return {
    succeeded,
    failed,
    ...sampleJson(total),
    hours: samples.map(sampleJson),
    usage,
    dollars: dollarsOf(usage),
  };
}

function sampleJson({ fromMs, entered, functions }: LoadSample) {
  return { fromMs, entered, functions: Object.fromEntries(functions) };
}
