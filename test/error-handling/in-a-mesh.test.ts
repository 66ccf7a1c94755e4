import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decidePipeline, type PipelineAction } from '../../lib/core/pipeline/pipeline.ts';
import { DEFAULT_SETTINGS } from '../../lib/error-handling/policy.ts';
import { anEnvelope, at, faultEnd, type Handled, handle, NOW } from '../core/a-delivery.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/pipeline-errors.md'), 'utf8');
const [, FILE = ''] = /```json\n([\s\S]+?)```/.exec(PAGE) ?? [];
const HOUR_MS = 3_600_000;

const ERRORS = [
  ...[404, 410, 423, 429, 500, 502, 503, 504, 400, 409, 501].map((httpStatus) => ({
    type: 'HttpError',
    mro: [],
    httpStatus,
  })),
  ...['TopicPublishError', 'ClientClosedError', 'TypeError'].map((type) => ({ type, mro: [] })),
];

/** The module's action in the same notation as the sidecar's. */
function moduleAction(action: PipelineAction): string {
  if (action.action === 'retry') return `retry after ${action.delaySeconds} s`;
  return action.action === 'escalate' || action.escalate ? 'escalate' : 'drop';
}

function sidecarAction({ sends: [first] }: Handled): string {
  if (first?.type === 'retry') return `retry after ${first.delayMs / 1000} s`;
  if (first?.type === 'escalation') return `escalate${first.to === DEFAULT_SETTINGS.errorsTopic ? '' : '?'}`;
  return first?.envelope.status?.reason === 'Dropped' ? 'drop' : `?${JSON.stringify(first)}`;
}

/** An envelope at this attempt of its actor. */
function atAttempt(attempt: number, ageMs: number) {
  const status = { phase: 'retrying', actor: 'score', attempt: attempt - 1, created_at: at(-1) };
  return anEnvelope({ headers: { event_time: at(-ageMs) }, ...(attempt === 1 ? {} : { status }) });
}

describe('the policies for a mesh in docs/pipeline-errors.md', () => {
  it.each(ERRORS)('decide like the error module: %j', (fault) => {
    const resiliency = JSON.parse(FILE);
    for (const ageMs of [0, 36 * HOUR_MS, 36 * HOUR_MS + 1])
      for (const retryCount of [0, 1, 2, 3, 4, 5, 6]) {
        const happened = { fault, isNormal: false, retryCount, eventMs: NOW - ageMs, now: NOW };
        const byModule = moduleAction(decidePipeline(happened, DEFAULT_SETTINGS));
        const bySidecar = sidecarAction(
          handle(atAttempt(retryCount + 1, ageMs), faultEnd(fault), resiliency),
        );
        // After the last delay, the module starts again with the first one; the sidecar repeats the last one.
        const expected = retryCount === 6 ? byModule.replace('after 1 s', 'after 30 s') : byModule;
        expect(bySidecar, `${retryCount} retries, ${ageMs} ms old`).toBe(expected);
      }
  });
});
