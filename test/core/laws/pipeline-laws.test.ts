import fc from 'fast-check';
import { describe, expect } from 'vitest';
import {
  decidePipeline,
  PIPELINE_DEFAULTS,
  type PipelineAction,
} from '../../../lib/core/pipeline/pipeline.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { law } from '../law.ts';

const NOW = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const PERMANENT = [404, 410];
const SERVICE = [423, 429, 500, 502, 503, 504];
const CLIENT = ['TopicPublishError', 'ClientClosedError'];

const schedules = fc.oneof(
  fc.constant(PIPELINE_DEFAULTS.delaysSeconds),
  fc.array(fc.constantFrom(0, 1, 2, 7, 30, 0.5, 900, 901, 86_400), { minLength: 1, maxLength: 8 }),
);

const cases = fc
  .record({
    httpStatus: fc.option(fc.constantFrom(...PERMANENT, ...SERVICE, ...SERVICE, 400, 418, 501, 200), {
      nil: undefined,
      freq: 3,
    }),
    type: fc.constantFrom(...CLIENT, 'pkg.TopicPublishError', 'ValueError', ''),
    isNormal: fc.boolean(),
    countFrom: fc.constantFrom('start', 'length'),
    count: fc.integer({ min: -1, max: 2 }),
    expireAfterHours: fc.constantFrom(36, 1, 0),
    ageOffsetMs: fc.constantFrom(-HOUR_MS, -HOUR_MS, -1, 0, 1, HOUR_MS),
    delaysSeconds: schedules,
  })
  .map(({ countFrom, count, httpStatus, type, isNormal, expireAfterHours, ageOffsetMs, delaysSeconds }) => ({
    happened: {
      fault: { type, mro: [], ...defined({ httpStatus }) },
      isNormal,
      retryCount: Math.max(0, count + (countFrom === 'start' ? 0 : delaysSeconds.length)),
      eventMs: NOW - expireAfterHours * HOUR_MS - ageOffsetMs,
      now: NOW,
    },
    settings: { delaysSeconds, expireAfterHours },
    isExpired: ageOffsetMs > 0,
    isPermanent: httpStatus !== undefined && PERMANENT.includes(httpStatus),
    isService: httpStatus !== undefined && SERVICE.includes(httpStatus),
    isClient: CLIENT.some((name) => type.endsWith(name)),
  }));

describe('the pipeline error module', () => {
  law(
    'retries only retryable errors that have not expired, with a delay and a count of the schedule',
    cases,
    ({ happened, settings, isExpired, isPermanent, isService, isClient }) => {
      const action = decidePipeline(happened, settings);
      const { length } = settings.delaysSeconds;
      const hasDelayLeft = happened.retryCount < length;
      const mustRetry = !isPermanent && !isExpired && (isService || (isClient && hasDelayLeft));
      expect(action.action === 'retry').toBe(mustRetry);
      if (action.action !== 'retry') return;
      expect(action.nextCount).toBe(hasDelayLeft ? happened.retryCount + 1 : 1);
      expect(action.nextCount).toBeGreaterThanOrEqual(1);
      expect(action.nextCount).toBeLessThanOrEqual(length);
      expect(action.delaySeconds).toBe(settings.delaysSeconds[action.nextCount - 1]);
    },
    (given) => kindOf(decidePipeline(given.happened, given.settings)),
    ['retry', 'escalate', 'drop', 'drop, expired', 'drop, escalate, expired'],
  );

  law(
    'drops permanent errors without escalation, escalates expired ones unless normal, and always escalates unknown ones',
    cases,
    ({ happened, settings, isExpired, isPermanent, isService, isClient }) => {
      const action = decidePipeline(happened, settings);
      if (action.action === 'retry') return;
      const isExhausted = isClient && !isService;
      if (isPermanent) expect(action).toEqual({ action: 'drop', escalate: false });
      else if (isExpired || isExhausted)
        expect(action).toEqual({ action: 'drop', escalate: !happened.isNormal, expired: true });
      else expect(action).toEqual({ action: 'escalate' });
    },
    (given) => kindOf(decidePipeline(given.happened, given.settings)),
    ['escalate', 'drop', 'drop, expired', 'drop, escalate, expired'],
  );

  law(
    'a message that keeps failing ends only because of its age',
    cases,
    ({ happened, settings, isService, isPermanent }) => {
      let count = 0;
      let now = happened.now;
      const visited: number[] = [];
      for (let round = 0; round < 30; round++) {
        const action = decidePipeline(
          { ...happened, eventMs: happened.now, retryCount: count, now },
          settings,
        );
        if (action.action !== 'retry') break;
        visited.push(action.delaySeconds);
        count = action.nextCount;
        now += action.delaySeconds * 1000;
      }
      const { delaysSeconds } = settings;
      expect(visited).toEqual(visited.map((_, index) => delaysSeconds[index % delaysSeconds.length]));
      if (!isService || isPermanent) expect(visited.length).toBeLessThanOrEqual(delaysSeconds.length);
      else if (now === happened.now || now - happened.now <= settings.expireAfterHours * HOUR_MS)
        expect(visited.length).toBe(30);
    },
    ({ isService, isClient, isPermanent }) =>
      isPermanent ? 'permanent' : isService ? 'service' : isClient ? 'client' : 'unknown',
    ['permanent', 'service', 'client', 'unknown'],
  );
});

function kindOf(action: PipelineAction): string {
  if (action.action !== 'drop') return action.action;
  return ['drop', ...(action.escalate ? ['escalate'] : []), ...(action.expired ? ['expired'] : [])].join(
    ', ',
  );
}
