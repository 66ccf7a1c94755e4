import { createHash } from 'node:crypto';
import { readEnvironment } from '../../lib/config/settings/environment.ts';
import { admit } from '../../lib/core/delivery/admit.ts';
import { answerFromHttp, faultFromErrorObject } from '../../lib/core/delivery/answer.ts';
import { decide } from '../../lib/core/delivery/decide.ts';
import type { CallResult, Outcome } from '../../lib/core/delivery/outcome.ts';
import { type DeriveId, decode } from '../../lib/core/envelope/decode.ts';
import { decidePipeline, PIPELINE_DEFAULTS } from '../../lib/core/pipeline/pipeline.ts';
import { delayAfterAttempt } from '../../lib/core/policy/policy-delay.ts';
import { compilePolicy } from '../../lib/core/policy/policy-input.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { durationMs } from '../../lib/core/text/duration.ts';
import { mistakeCollector, mistakesText } from '../../lib/core/text/mistake.ts';
import { instantMs } from '../../lib/core/text/timestamp.ts';
import { NO_LIMITS } from '../core/no-limits.ts';
import {
  type ActualSend,
  compareExactly,
  compareIds,
  compareSends,
  type Difference,
  type ExpectedSend,
} from './compare.ts';

/** Runs the cases of each kind with the code that processes deliveries. A case returns its differences. */

const deriveId: DeriveId = (...parts) => createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const noFile = () => ({ problem: 'files are not available here' });

interface DecisionCase {
  readonly config: {
    readonly actor: string;
    readonly actorTimeout: string;
    readonly policies?: unknown;
    readonly rules?: unknown;
    readonly fanout?: string;
    readonly maxHops?: number;
  };
  readonly now: string;
  readonly roll: number;
  readonly envelope: Readonly<Record<string, unknown>>;
  readonly outcome: { readonly kind: string; readonly value?: unknown; readonly error?: object };
  readonly expect: {
    readonly called: boolean;
    readonly effectiveTimeoutMs?: number;
    readonly sends: readonly ExpectedSend[];
    readonly settle: string;
  };
}

export function runDecision(given: DecisionCase): Difference[] {
  const { expect } = given;
  const once = decisionOf(given);
  const twice = decisionOf(given);
  return [
    ...compareExactly('called', expect.called, once.called),
    ...(expect.effectiveTimeoutMs === undefined
      ? []
      : compareExactly('effectiveTimeoutMs', expect.effectiveTimeoutMs, once.timeoutMs)),
    ...compareExactly('settle', expect.settle, once.settle),
    ...compareSends(expect.sends, once.sends),
    ...compareIds(given.envelope['id'], once.sends, expect.sends),
    ...compareExactly('the same case run again', once, twice),
  ];
}

interface Decision {
  readonly called: boolean;
  readonly timeoutMs?: number;
  readonly settle: string;
  readonly sends: readonly ActualSend[];
}

function decisionOf(given: DecisionCase): Decision {
  const { config } = given;
  const reading = readEnvironment(
    {
      ASYA_ACTOR_NAME: config.actor,
      ASYA_RESILIENCY_ACTOR_TIMEOUT: config.actorTimeout,
      ...(config.policies !== undefined && { ASYA_RESILIENCY_POLICIES: JSON.stringify(config.policies) }),
      ...(config.rules !== undefined && { ASYA_RESILIENCY_RULES: JSON.stringify(config.rules) }),
      ...defined({ ASYA_FANOUT: config.fanout }),
      ...(config.maxHops !== undefined && { ASYA_MAX_HOPS: String(config.maxHops) }),
    },
    noFile,
  );
  if ('mistakes' in reading)
    throw new Error(`the config of the case is invalid: ${mistakesText(reading.mistakes)}`);
  const { actor } = reading.config;
  const now = instantMs(given.now);
  if (now === undefined) throw new Error(`the case has an invalid "now": ${given.now}`);
  const arrival = decode(JSON.stringify(given.envelope), { actor: actor.name, messageId: 'm-1', deriveId });
  const admission = admit(arrival, actor, now, Number.POSITIVE_INFINITY);
  const isCalled = admission.kind === 'call' || admission.kind === 'end-call';
  const outcome: Outcome = isCalled
    ? { kind: 'called', call: admission, end: endOf(given.outcome, actor.fanOut) }
    : admission;
  const plan = decide(outcome, { actor, limits: NO_LIMITS, now, random: given.roll, deriveId });
  return {
    called: isCalled,
    ...(isCalled ? { timeoutMs: admission.timeoutMs } : {}),
    settle: plan.settle,
    sends: plan.dispatches.map(({ to, delayMs, body }) => ({ to, delayMs, envelope: JSON.parse(body) })),
  };
}

function endOf(outcome: DecisionCase['outcome'], fanOut: 'array' | 'never'): CallResult {
  switch (outcome.kind) {
    case 'value':
      return answerFromHttp({ status: 200, text: JSON.stringify(outcome.value) }, fanOut);
    case 'error':
      return { kind: 'fault', fault: faultFromErrorObject((outcome.error ?? {}) as Record<string, unknown>) };
    case 'unreachable':
      return { kind: 'unreachable', detail: 'connection refused' };
    case 'timeout':
      return { kind: 'timeout' };
    default:
      throw new Error(`unknown outcome: ${outcome.kind}`);
  }
}

interface DecodeCase {
  readonly actor: string;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly expect: Readonly<Record<string, unknown>>;
}

export function runDecode(given: DecodeCase): Difference[] {
  const body = given.bodyBase64 === undefined ? (given.body ?? '') : Buffer.from(given.bodyBase64, 'base64');
  const reading = readEnvironment({ ASYA_ACTOR_NAME: given.actor }, noFile);
  if ('mistakes' in reading)
    throw new Error(`the actor of the case is invalid: ${mistakesText(reading.mistakes)}`);
  const { actor } = reading.config;
  const now = Date.UTC(2026, 0, 1);
  const admission = admit(decode(body, { actor: actor.name, messageId: 'm-1', deriveId }), actor, now, 1e9);
  if (admission.kind === 'call' || admission.kind === 'end-call') {
    return [{ path: 'to', expected: given.expect, actual: 'the runtime would be called' }];
  }
  const plan = decide(admission, { actor, limits: NO_LIMITS, now, random: 0, deriveId });
  const sends = plan.dispatches.map(({ to, body: sent }) => ({ to, envelope: JSON.parse(sent) }));
  const envelope = sends[0]?.envelope;
  const { to, reason } = given.expect;
  const text = body.toString();
  const isText = Buffer.from(text).equals(Buffer.from(body));
  const raw = isText ? { raw: text } : { raw_base64: given.bodyBase64 };
  return [
    ...compareExactly('to', to, sends[0]?.to),
    ...compareExactly('status.reason', reason, envelope?.status?.reason),
    ...compareExactly('status.phase', 'failed', envelope?.status?.phase),
    ...compareExactly('payload', raw, envelope?.payload),
    ...compareExactly('settle', 'ack', plan.settle),
  ];
}

interface DelayCase {
  readonly policy: unknown;
  readonly attempt: number;
  readonly roll: number;
  readonly expectMs: number;
}

export function runDelay(given: DelayCase): Difference[] {
  const mistakes: Parameters<typeof mistakeCollector>[0] = [];
  const policy = compilePolicy(given.policy, mistakeCollector(mistakes, 'policy'));
  if (mistakes.length > 0) throw new Error(`the policy of the case is invalid: ${mistakesText(mistakes)}`);
  const actual = delayAfterAttempt(policy, given.attempt, given.roll);
  return Math.abs(actual - given.expectMs) <= 1
    ? []
    : [{ path: 'delayMs', expected: given.expectMs, actual }];
}

export function runGoodDuration(given: { readonly text: string; readonly ms: number }): Difference[] {
  return compareExactly(JSON.stringify(given.text), given.ms, durationMs(given.text));
}

export function runBadDuration(text: unknown): Difference[] {
  return compareExactly(JSON.stringify(text), undefined, durationMs(text));
}

/** A case of `pipeline.json`. */
export interface PipelineFileCase {
  readonly error: { readonly http_status?: number; readonly type?: string; readonly normal?: boolean };
  readonly retryCount: number;
  readonly eventTime: string;
  readonly now: string;
  readonly RETRY_MESSAGE_DELAYS_SECONDS?: readonly number[];
  readonly EXPIRED_MESSAGE_AFTER_HOURS?: number;
  readonly expect: unknown;
}

export function runPipeline(given: PipelineFileCase): Difference[] {
  const { error, retryCount } = given;
  const action = decidePipeline(
    {
      fault: {
        type: error.type ?? '',
        mro: [],
        ...defined({ httpStatus: error.http_status }),
      },
      isNormal: error.normal === true,
      retryCount,
      eventMs: instantMs(given.eventTime) ?? Number.NaN,
      now: instantMs(given.now) ?? Number.NaN,
    },
    {
      delaysSeconds: given.RETRY_MESSAGE_DELAYS_SECONDS ?? PIPELINE_DEFAULTS.delaysSeconds,
      expireAfterHours: given.EXPIRED_MESSAGE_AFTER_HOURS ?? PIPELINE_DEFAULTS.expireAfterHours,
    },
  );
  return compareExactly('action', given.expect, action);
}

interface ConfigCase {
  readonly env: Readonly<Record<string, string>>;
  readonly mentions?: readonly string[];
}

export function runConfigError(given: ConfigCase): Difference[] {
  const reading = readEnvironment(given.env, noFile);
  if ('config' in reading) return [{ path: 'start', expected: 'refused', actual: 'started' }];
  const printed = mistakesText(reading.mistakes);
  const missing = (given.mentions ?? []).filter((word) => !printed.includes(word));
  return missing.length === 0 ? [] : [{ path: 'printed', expected: missing, actual: printed }];
}

export function runConfigGood(given: ConfigCase): Difference[] {
  const reading = readEnvironment(given.env, noFile);
  return 'config' in reading
    ? []
    : [{ path: 'start', expected: 'started', actual: mistakesText(reading.mistakes) }];
}
