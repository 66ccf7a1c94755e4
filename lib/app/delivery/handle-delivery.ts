import type { Actor, Limits } from '../../core/delivery/actor.ts';
import { type Admission, admit, startByMs } from '../../core/delivery/admit.ts';
import type { Context } from '../../core/delivery/context.ts';
import { normalizeForCrew, sourceActor } from '../../core/delivery/crew.ts';
import type { Outcome } from '../../core/delivery/outcome.ts';
import { type Dispatch, type Plan, planAfterRefusal } from '../../core/delivery/plan.ts';
import { type Arrival, type DeriveId, decode } from '../../core/envelope/decode.ts';
import { actorTimeoutFault, connectionFault, type Fault } from '../../core/envelope/fault.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import { defined } from '../../core/text/defined.ts';
import { isFields } from '../../core/text/fields.ts';
import type { Clock, Random } from '../../ports/clock.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Progress } from '../../ports/reports.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { DeliveryReport, Telemetry } from '../../ports/telemetry.ts';
import type { Delivery } from '../../ports/transport.ts';
import type { HandlerUpdates } from './handler-updates.ts';
import { decideUnlessCanceled, reportCall, unlessCanceled } from './report-progress.ts';

/** The line that an actor's deliveries pass through: what it needs to process them. Every host has the same line. */
export interface DeliveryLine {
  readonly actor: Actor;
  readonly limits: Limits;
  readonly runtime: Runtime;
  /** Resolves when the broker has accepted or refused the send. */
  readonly send: (dispatch: Dispatch) => Promise<Reply>;
  readonly clock: Clock;
  readonly random: Random;
  readonly deriveId: DeriveId;
  readonly telemetry: Telemetry;
  /** Reports an envelope's progress to the gateway. Undefined: there is no gateway. */
  readonly progress?: Progress;
  /** Passes on what a handler reports during its call. Undefined: it is ignored. */
  readonly updates?: HandlerUpdates;
}

type Incoming = Pick<Delivery, 'body' | 'messageId' | 'queue' | 'receiveCount'>;

/** What the host provides for one delivery. */
export interface HostContext {
  /** Until the host ends. `Infinity` on a long-running host. */
  readonly timeLeftMs: number;
  /** Called before the delivery's sends: the runtime is free for the next call, or the call hung. */
  readonly onCallEnded?: (hasHung: boolean) => void;
  /** Called when the delivery has made sends and waits for their replies. More sends follow only if one is refused. */
  readonly onSent?: () => void;
}

/** What the host has to do with the delivery: acknowledge it, or release it so that the broker redelivers it. */
export interface DeliveryResult {
  readonly settle: 'ack' | 'release';
}

/**
 * Processes one delivery: decode → admit → invoke → decide → dispatch. The host does the rest: it receives the delivery
 * before, and settles it afterwards.
 */
export async function handleDelivery(
  delivery: Incoming,
  host: HostContext,
  line: DeliveryLine,
): Promise<DeliveryResult> {
  const { actor, limits, clock, random, deriveId, telemetry } = line;
  telemetry.began();
  const arrivedAt = clock.now();
  const origin = { actor: sourceActor(actor, delivery.queue), messageId: delivery.messageId, deriveId };
  const arrival = normalizeForCrew(decode(delivery.body, origin), actor, delivery, arrivedAt);
  const { admission, outcome, calledAt, waitedMs } = await admitAndCall(
    arrival,
    arrivedAt,
    host.timeLeftMs,
    line,
  );
  const hasHung = outcome.kind === 'called' && outcome.end.kind === 'timeout';
  host.onCallEnded?.(hasHung);
  const decidedAt = clock.now();
  const context: Context = {
    actor,
    limits,
    now: decidedAt,
    random: random(),
    deriveId,
    countBytes: Buffer.byteLength,
  };
  const { plan, problem } = await dispatch(decideUnlessCanceled(outcome, context, line), line, host.onSent);
  const endedAt = clock.now();
  telemetry.ended({
    ...identityOf(admission),
    settle: plan.settle,
    facts: plan.facts,
    ...problemOf(outcome, plan, problem),
    receivedBytes: Buffer.byteLength(delivery.body),
    sentBytes: plan.dispatches.map(({ body }) => Buffer.byteLength(body)),
    processingMs: endedAt - arrivedAt - waitedMs,
    ...(outcome.kind === 'called' ? { runtimeMs: decidedAt - calledAt } : {}),
    sendMs: endedAt - decidedAt,
  });
  return { settle: plan.settle };
}

interface Called {
  readonly admission: Admission;
  readonly outcome: Outcome;
  readonly calledAt: number;
  /** How long the call waited for its turn in the runtime. */
  readonly waitedMs: number;
}

/** Admits a delivery and calls the runtime. If the call could not start in time, the delivery is admitted again. */
async function admitAndCall(
  arrival: Arrival,
  arrivedAt: number,
  hostTimeLeftMs: number,
  line: DeliveryLine,
): Promise<Called> {
  const { clock } = line;
  const timeLeftMs = (at: number) => hostTimeLeftMs - (at - arrivedAt);
  for (let now = arrivedAt; ; now = clock.now()) {
    const first = admit(arrival, line.actor, now, timeLeftMs(now));
    const { admission: admitted, at } = needsStart(first, line)
      ? await admitOnceStarted(first, arrival, now, timeLeftMs(now), line)
      : { admission: first, at: now };
    const admission = unlessCanceled(admitted, line);
    const { outcome, startedAt = at } = await invoke(admission, at, timeLeftMs(at), line);
    if (!isUnstarted(outcome)) return { admission, outcome, calledAt: startedAt, waitedMs: startedAt - at };
  }
}

function isUnstarted(outcome: Outcome): boolean {
  return outcome.kind === 'called' && outcome.end.kind === 'interrupted' && outcome.end.isUnstarted === true;
}

type Callable = Extract<Admission, { kind: 'call' | 'end-call' }>;

function needsStart(admission: Admission, { runtime }: DeliveryLine): admission is Callable {
  const isCalled = admission.kind === 'call' || admission.kind === 'end-call';
  return isCalled && runtime.isStarting?.() === true;
}

/**
 * Loading a handler does not count towards a call's timeout: a delivery that arrives while the runtime starts waits for it,
 * as long as its deadline and the host leave enough time for a call, and is then admitted again.
 */
async function admitOnceStarted(
  admission: Callable,
  arrival: Arrival,
  arrivedAt: number,
  hostTimeLeftMs: number,
  { actor, clock, runtime }: DeliveryLine,
): Promise<{ readonly admission: Admission; readonly at: number }> {
  const deadline = admission.kind === 'call' ? deadlineMs(admission.envelope) : undefined;
  const deadlineLeftMs = deadline === undefined ? Number.POSITIVE_INFINITY : deadline - arrivedAt;
  const started = new AbortController();
  const giveUp = new AbortController();
  clock
    .sleep(Math.min(hostTimeLeftMs - admission.timeoutMs + 1, deadlineLeftMs), started.signal)
    .then(() => giveUp.abort());
  const end = await runtime.untilStarted?.(giveUp.signal);
  started.abort();
  const now = clock.now();
  // The host is about to end, so the envelope goes back to the queue unchanged.
  if (end === 'interrupted')
    return { admission: { kind: 'host-out-of-time', envelope: admission.original }, at: now };
  return { admission: admit(arrival, actor, now, hostTimeLeftMs - (now - arrivedAt)), at: now };
}

async function invoke(
  admission: Admission,
  now: number,
  hostTimeLeftMs: number,
  line: DeliveryLine,
): Promise<{ readonly outcome: Outcome; readonly startedAt?: number }> {
  const { runtime, telemetry, updates, clock } = line;
  if (admission.kind !== 'call' && admission.kind !== 'end-call') return { outcome: admission };
  const { envelope, original, timeoutMs } = admission;
  telemetry.step('call', { envelopeId: envelope.id, timeoutMs });
  const call = updates?.begin(envelope, original);
  const endReport = reportCall(admission, () => call?.hasReported() ?? false, line);
  let startedAt: number | undefined;
  const end = await runtime.call({
    envelope,
    timeoutMs,
    startByMs: startByMs(admission, now, hostTimeLeftMs),
    onStart: () => {
      startedAt = clock.now();
    },
    ...(call !== undefined && { onProgress: call.onProgress }),
  });
  endReport();
  call?.end();
  telemetry.step('called', { envelopeId: envelope.id, end: end.kind });
  return { outcome: { kind: 'called', call: admission, end }, ...defined({ startedAt }) };
}

/**
 * Sends what the plan contains. If a send is refused, continues with the plan for that case. The host acknowledges the
 * delivery only after every send of the returned plan was accepted.
 */
async function dispatch(
  plan: Plan,
  line: DeliveryLine,
  onSent: HostContext['onSent'],
): Promise<{ plan: Plan; problem?: string }> {
  const sending = plan.dispatches.map((one) => sendOne(one, line));
  onSent?.();
  const [first] = sending;
  const replies = first !== undefined && sending.length === 1 ? [await first] : await Promise.all(sending);
  const refusal = replies.find((reply) => !reply.ok);
  if (refusal === undefined || refusal.ok) return { plan };
  const fallback = await dispatch(planAfterRefusal(plan), line, onSent);
  return { plan: fallback.plan, problem: fallback.problem ?? refusal.problem };
}

async function sendOne(one: Dispatch, { send, telemetry }: DeliveryLine): Promise<Reply> {
  const { to, type, delayMs, envelope } = one;
  const reply = await send(one);
  const details = { envelopeId: envelope.id, to, type, delayMs };
  if (reply.ok) telemetry.step('sent', details);
  else telemetry.warn('a send was refused', { ...details, problem: reply.problem });
  return reply;
}

function identityOf({ envelope }: Admission): Pick<DeliveryReport, 'envelopeId' | 'attempt'> {
  return { envelopeId: envelope.id, attempt: envelope.status?.attempt ?? 1 };
}

/** Why the delivery failed, in the words of the envelope's error: logs and the failure index contain the same text. */
function problemOf(outcome: Outcome, plan: Plan, refusal: string | undefined): { problem?: string } {
  const problem = refusal ?? errorOfPlan(plan) ?? problemOfOutcome(outcome);
  return defined({ problem });
}

/** Undefined if the delivery did not fail: an envelope that is only passed on may contain an earlier error. */
function errorOfPlan({ facts, dispatches }: Plan): string | undefined {
  const hasFailed = facts.some(
    (fact) => fact.fact === 'failed' || (fact.fact === 'result' && fact.result === 'error'),
  );
  const error = hasFailed ? dispatches[0]?.envelope.status?.error : undefined;
  return isFields(error) ? `${error['type']}: ${error['message']}` : undefined;
}

function problemOfOutcome(outcome: Outcome): string | undefined {
  if (outcome.kind === 'unreadable') return outcome.problem;
  if (outcome.kind !== 'called') return undefined;
  const { end } = outcome;
  if (end.kind === 'fault') return errorText(end.fault);
  if (end.kind === 'unreachable') return errorText(connectionFault(end.detail));
  if (end.kind === 'timeout') return errorText(actorTimeoutFault(outcome.call.timeoutMs));
  return end.kind === 'too-large' ? end.detail : undefined;
}

function errorText({ type, message }: Fault): string {
  return `${type}: ${message}`;
}
