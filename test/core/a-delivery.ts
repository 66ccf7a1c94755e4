import type { Actor, Limits } from '../../lib/core/delivery/actor.ts';
import { type Admission, admit } from '../../lib/core/delivery/admit.ts';
import { decide } from '../../lib/core/delivery/decide.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import type { Fact, Plan } from '../../lib/core/delivery/plan.ts';
import { type DeriveId, decode } from '../../lib/core/envelope/decode.ts';
import type { Fault } from '../../lib/core/envelope/fault.ts';
import { NO_RESILIENCY, type Policy, type Resiliency } from '../../lib/core/policy/policy.ts';
import { compilePolicy } from '../../lib/core/policy/policy-input.ts';
import { compileResiliency } from '../../lib/core/policy/resiliency-input.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { type Mistake, mistakeCollector, mistakesText } from '../../lib/core/text/mistake.ts';
import type { CountBytes } from '../../lib/core/text/utf8.ts';
import { NO_LIMITS } from './no-limits.ts';

/** Processes one delivery, from bytes to plan, as a host does. */

export const NOW = Date.UTC(2026, 0, 1);
export const NOW_TEXT = '2026-01-01T00:00:00Z';

/** The timestamp of an instant after NOW, as an envelope contains it. */
export function at(milliseconds: number): string {
  return new Date(NOW + milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}

/** Readable in assertions, and different for different parts. */
export const deriveId: DeriveId = (...parts) => parts.join('|');

export const ORIGIN = { actor: 'score', messageId: 'm-1', deriveId };

export function resiliencyOf(policies: unknown, rules: unknown = []): Resiliency {
  const mistakes: Mistake[] = [];
  const collectors = {
    policies: mistakeCollector(mistakes, 'policies'),
    rules: mistakeCollector(mistakes, 'rules'),
  };
  const resiliency = compileResiliency(policies, rules, collectors);
  if (mistakes.length > 0) throw new Error(`invalid policies in the test: ${mistakesText(mistakes)}`);
  return resiliency;
}

export function policyOf(input: unknown): Policy {
  const mistakes: Mistake[] = [];
  const policy = compilePolicy(input, mistakeCollector(mistakes, 'policy'));
  if (mistakes.length > 0) throw new Error(`invalid policy in the test: ${mistakesText(mistakes)}`);
  return policy;
}

export function anActor(changes: Partial<Actor> = {}): Actor {
  return {
    name: 'score',
    sink: 'x-sink',
    isEnd: false,
    timeoutMs: 300_000,
    maxHops: 100,
    fanOut: 'array',
    resiliency: NO_RESILIENCY,
    ...changes,
  };
}

type Fields = Readonly<Record<string, unknown>>;

export function anEnvelope(changes: Fields = {}): Fields {
  return {
    id: 'e-1',
    route: { prev: ['fetch'], curr: 'score', next: ['store'] },
    payload: { n: 1 },
    ...changes,
  };
}

export interface Setting {
  readonly actor?: Partial<Actor>;
  readonly policies?: unknown;
  readonly rules?: unknown;
  readonly limits?: Partial<Limits>;
  readonly now?: number;
  /** The time after the call. Default: `now`. */
  readonly later?: number;
  readonly random?: number;
  readonly hostTimeLeftMs?: number;
  /** The platform's function to count bytes. */
  readonly countBytes?: CountBytes;
}

export interface SentEnvelope {
  readonly id: string;
  readonly parent_id?: string;
  readonly route: { readonly prev: string[]; readonly curr: string; readonly next: string[] };
  readonly headers: Fields;
  readonly payload: unknown;
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly actor?: string;
    readonly attempt?: number;
    readonly max_attempts?: number;
    readonly created_at?: string;
    readonly updated_at?: string;
    readonly deadline_at?: string;
    readonly error?: {
      readonly type: string;
      readonly mro: string[];
      readonly message: string;
      readonly traceback: string;
    };
  };
}

export interface Send {
  readonly to: string;
  readonly type: string;
  readonly delayMs: number;
  readonly body: string;
  readonly envelope: SentEnvelope;
}

export interface Handled {
  readonly called: boolean;
  readonly timeoutMs: number | undefined;
  readonly admission: Admission;
  readonly plan: Plan;
  readonly sends: readonly Send[];
  /** The envelope of the first send. Most plans have only one. */
  readonly sent: SentEnvelope;
}

export function actorOf(setting: Setting): Actor {
  const { actor = {}, policies, rules } = setting;
  const isCovered = policies !== undefined || rules !== undefined;
  return anActor({
    ...(isCovered ? { resiliency: resiliencyOf(policies ?? {}, rules ?? []) } : {}),
    ...actor,
  });
}

/** Decodes, admits and decides, with a runtime whose call ends with `end`. */
export function handle(
  received: Fields | string | Uint8Array,
  end: CallResult,
  setting: Setting = {},
): Handled {
  const { now = NOW, later = now, random = 0, hostTimeLeftMs = Number.POSITIVE_INFINITY } = setting;
  const actor = actorOf(setting);
  const body =
    typeof received === 'string' || received instanceof Uint8Array ? received : JSON.stringify(received);
  const admission = admit(
    decode(body, { actor: actor.name, messageId: 'm-1', deriveId }),
    actor,
    now,
    hostTimeLeftMs,
  );
  const isCall = admission.kind === 'call' || admission.kind === 'end-call';
  const plan = decide(isCall ? { kind: 'called', call: admission, end } : admission, {
    actor,
    limits: { ...NO_LIMITS, ...setting.limits },
    now: later,
    random: random,
    deriveId,
    ...defined({ countBytes: setting.countBytes }),
  });
  const sends = sendsOf(plan);
  return {
    called: isCall,
    timeoutMs: isCall ? admission.timeoutMs : undefined,
    admission,
    plan,
    sends,
    sent: sends[0]?.envelope as SentEnvelope,
  };
}

export function sendsOf(plan: Plan): readonly Send[] {
  return plan.dispatches.map(({ to, type, delayMs, body }) => ({
    to,
    type,
    delayMs,
    body,
    envelope: JSON.parse(body),
  }));
}

export function valueEnd(...payloads: readonly unknown[]): CallResult {
  return {
    kind: 'frames',
    frames: payloads.map((payload) => ({ payload: JSON.stringify(payload) as never })),
  };
}

export function faultEnd(changes: Partial<Fault> = {}): CallResult {
  const fault = { type: 'pkg.ValueError', mro: ['Exception'], message: 'no', traceback: 'at line 1' };
  return { kind: 'fault', fault: { ...fault, ...changes } };
}

export const TIMEOUT: CallResult = { kind: 'timeout' };
export const UNREACHABLE: CallResult = { kind: 'unreachable', detail: 'connection refused' };

/** The labels of a plan's facts, as the metrics count them. */
export function factLabelsOf(plan: Plan): {
  readonly result: readonly string[];
  readonly failed: readonly string[];
  readonly errorType: readonly string[];
} {
  const pick = <T>(choose: (fact: Fact) => T | undefined): readonly T[] =>
    plan.facts.map(choose).filter((value) => value !== undefined);
  return {
    result: pick((fact) => (fact.fact === 'result' ? fact.result : undefined)),
    failed: pick((fact) => (fact.fact === 'failed' ? fact.reason : undefined)),
    errorType: pick((fact) => (fact.fact === 'runtime-error' ? fact.errorType : undefined)),
  };
}
