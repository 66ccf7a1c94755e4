import type { Actor } from '../../../lib/core/delivery/actor.ts';
import { delayAfterAttempt, delayWithRetryAfter } from '../../../lib/core/policy/policy-delay.ts';
import type { DeliveryParams, Flaw, InstantForm } from './arbitraries.ts';
import { retryAfterFrom } from './policy-arbitraries.ts';

export const ACTOR = 'score';
export const TRACE = '"00-aa-bb-01"';

/** The contents of the generated body. Laws compare with these values, not with the decoded ones. */
export interface Written {
  readonly id: string;
  readonly parentId: string | undefined;
  readonly prev: readonly string[];
  readonly curr: string;
  readonly next: readonly string[];
  readonly payload: string;
  readonly extra: ReadonlyMap<string, string>;
  readonly headers: ReadonlyMap<string, string>;
  readonly phase: unknown;
  /** The attempt, and when this actor's first attempt began, after arrival. */
  readonly attempt: number;
  readonly createdMs: number;
  readonly eventMs: number | undefined;
  readonly deadlineMs: number | undefined;
  readonly notBeforeMs: number | undefined;
  readonly onError: string | undefined;
  readonly flaw: Flaw | undefined;
}

export function writtenFrom(given: DeliveryParams, actor: Actor): Written {
  const { mainPolicy, now, elapsedMs, hops, curr, created, event } = given;
  const decisionMs = now + elapsedMs;
  const isRetry = given.hasStatus && given.phase === 'retrying' && given.statusActor === 'own';
  const attempt = isRetry ? (wireAttempt(given) ?? 1) + 1 : 1;
  const wireCreatedMs = created && decisionMs - (mainPolicy.maxDurationMs ?? 60_000) + created.offsetMs;
  const hopCount = hops.from === 'none' ? hops.count : Math.max(0, actor.maxHops + hops.count);
  return {
    id: given.id,
    parentId: given.parentId,
    prev: Array.from({ length: hopCount }, (_, hop) => `hop-${hop}`),
    curr: curr === 'own' ? ACTOR : curr === 'other' ? 'elsewhere' : '',
    next: curr === 'end' ? [] : given.next,
    payload: given.payload,
    extra: new Map(given.extra),
    headers: new Map([...given.headers, ['traceparent', TRACE], ['x-asya-task', '"t-1"']]),
    phase: given.hasStatus ? given.phase : undefined,
    attempt,
    createdMs: isRetry && wireCreatedMs !== undefined ? wireCreatedMs : now,
    eventMs: event && decisionMs - (mainPolicy.expireAfterMs ?? 60_000) + event.offsetMs,
    deadlineMs: given.deadline && given.deadline.offsetMs + deadlineBase(given, attempt),
    notBeforeMs: given.notBefore && now + given.notBefore.offsetMs,
    onError: given.onError,
    flaw: given.flaw,
  };
}

export function wireAttempt({ attempt, mainPolicy }: DeliveryParams): number | undefined {
  if (attempt.from === 'none') return attempt.count;
  const most = Number.isFinite(mainPolicy.maxAttempts) ? mainPolicy.maxAttempts : 3;
  return Math.max(1, most + (attempt.count ?? 0));
}

function deadlineBase(given: DeliveryParams, attempt: number): number {
  const { deadline, now, elapsedMs, timeoutMs, mainPolicy, end, random } = given;
  const decisionMs = now + elapsedMs;
  switch (deadline?.from) {
    case 'decision':
      return decisionMs;
    case 'retry': {
      const retryAfter = end.kind === 'fault' ? retryAfterFrom(end.pause, decisionMs) : undefined;
      const ownDelayMs = delayAfterAttempt(mainPolicy, attempt, random);
      return decisionMs + delayWithRetryAfter(mainPolicy, ownDelayMs, retryAfter, decisionMs) + 1_000;
    }
    case 'call':
      return now + timeoutMs;
    default:
      return now;
  }
}

export function instantText(ms: number, form: InstantForm): string {
  const utc = (at: number) => new Date(at).toISOString().slice(0, -1);
  switch (form) {
    case 'utc':
      return `${utc(ms)}Z`;
    case '+05:30':
      return `${utc(ms + 330 * 60_000)}+05:30`;
    case '-08:00':
      return `${utc(ms - 480 * 60_000)}-08:00`;
    case 'nanoseconds':
      return `${utc(ms)}999999Z`;
    case 'lower-case':
      return `${utc(ms)}z`.replace('T', 't');
  }
}
