import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { FLOW, isTraceparent, NO_HEADERS, TASK, withHeader } from '../../core/envelope/headers.ts';
import type { Flow } from '../../core/task/flow.ts';
import type { Task } from '../../core/task/task.ts';
import { createTask } from '../../core/task/task-create.ts';
import { endTask } from '../../core/task/task-end.ts';
import { defined } from '../../core/text/defined.ts';
import { type JsonText, readJson, shallowValueFromJson } from '../../core/text/json-text.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Caller, Created, CreateOptions, GatewayRefusal } from './gateway.ts';
import type { GatewayDeps, InputError } from './gateway-deps.ts';
import { isOverdue } from './reconcile-task.ts';

export interface CreateDeps extends GatewayDeps {
  /** Resolves when the backstop of a task is armed. */
  readonly armBackstop: (task: Task) => Promise<Reply>;
}

/**
 * Creates a task and sends its envelope. The backstop is armed first, then the task is stored, then the envelope is sent: a
 * crash in between leaves a timer without a task, or a task that times out, never one that is open forever.
 */
export async function createTaskFor(
  caller: Caller,
  flow: Flow,
  payload: JsonText,
  options: CreateOptions,
  deps: CreateDeps,
): Promise<Created | GatewayRefusal> {
  const faults = inputErrors(flow, payload, deps);
  if (faults.length > 0) {
    return {
      ok: false,
      kind: 'invalid',
      detail: "the input does not match the flow's inputSchema",
      errors: faults,
    };
  }
  const claimed = await claim(caller, flow, payload, options, deps);
  if ('ok' in claimed) return claimed;
  const { taskId, unsentTask } = claimed;
  const now = unsentTask?.createdMs ?? deps.clock.now();
  const envelope = envelopeFor(taskId, flow, payload, options, now);
  const body = encode(envelope);
  const bytes = deps.countBytes(body);
  if (bytes > deps.maxBodyBytes) {
    await releaseKey(claimed, deps);
    const detail = `the envelope would be ${bytes} bytes; the maximum is ${deps.maxBodyBytes}`;
    return { ok: false, kind: 'invalid', detail };
  }
  const task = unsentTask ?? newTask(caller, flow, envelope, now);
  const armed = await deps.armBackstop(task);
  if (!armed.ok) return notStored('the timer of the deadline could not be set', armed.problem, claimed, deps);
  return unsentTask === undefined
    ? storeAndSend(task, body, claimed, deps)
    : send(task, body, { ...claimed, isNew: false }, deps);
}

/** The validator recurses as deep as the value. */
const MAX_INPUT_DEPTH = 200;

function inputErrors({ mcp }: Flow, payload: JsonText, deps: GatewayDeps): readonly InputError[] {
  if (mcp === undefined) return [];
  const read = shallowValueFromJson(payload, MAX_INPUT_DEPTH);
  if (read === undefined) return [{ place: '', problem: `is nested deeper than ${MAX_INPUT_DEPTH} levels` }];
  return deps.checkInput(mcp.inputSchema, read.value);
}

interface Claim {
  readonly taskId: string;
  readonly key?: string;
  /** Set if an earlier request holds the key, and may still be storing the task. */
  readonly isShared?: true;
  /** Set if an earlier request with this key stored the task but crashed before it sent the envelope. */
  readonly unsentTask?: Task;
}

/** Longer than storing a task and sending its envelope takes, retries included. */
const ABANDONED_AFTER_MS = 60_000;

/**
 * Decides which task the request gets: a new one, an existing one of the same idempotency key, or one that a crashed
 * request with this key left unsent.
 */
async function claim(
  caller: Caller,
  flow: Flow,
  payload: JsonText,
  { idempotencyKey }: CreateOptions,
  deps: GatewayDeps,
): Promise<Claim | Created | GatewayRefusal> {
  const { tasks, clock, newId, deriveId } = deps;
  if (idempotencyKey === undefined) return { taskId: newId() };
  const key = deriveId('idempotency', caller.id, idempotencyKey);
  const digest = deriveId('request', flow.name, payload);
  const reply = await tasks.claimKey(key, { taskId: newId(), digest, atMs: clock.now() });
  if (!reply.ok) return unavailable('the idempotency key could not be claimed', reply.problem, deps);
  const { taskId } = reply.claim;
  if (reply.isFirst) return { taskId, key };
  if (reply.claim.digest !== digest) {
    return {
      ok: false,
      kind: 'conflict',
      detail: 'this Idempotency-Key was already used for a different request; use a new key',
    };
  }
  const known = await tasks.get(taskId);
  if (!known.ok) return unavailable('the task could not be read', known.problem, deps);
  const { task } = known;
  if (task === undefined) return { taskId, key, isShared: true };
  const { isSent = false, atMs } = reply.claim;
  const isAbandoned = !isSent && task.state === 'pending' && clock.now() - atMs >= ABANDONED_AFTER_MS;
  return isAbandoned && !isOverdue(task, clock.now())
    ? { taskId, key, unsentTask: task }
    : { ok: true, task, isNew: false };
}

async function storeAndSend(
  task: Task,
  body: string,
  claimed: Claim,
  deps: CreateDeps,
): Promise<Created | GatewayRefusal> {
  const { tasks } = deps;
  const stored = await tasks.create(task);
  if (stored.ok) return send(task, body, { ...claimed, isNew: true }, deps);
  const existing = await tasks.get(task.id);
  if (!existing.ok || existing.task === undefined)
    return notStored('the task could not be stored', stored.problem, claimed, deps);
  // Another request with the same key was faster. Otherwise only the answer was lost.
  return 'isTaken' in stored
    ? { ok: true, task: existing.task, isNew: false }
    : send(existing.task, body, { ...claimed, isNew: true }, deps);
}

/** Releases the key, unless another request needs it: an earlier one that may still store the task, or a later retry. */
async function notStored(
  what: string,
  problem: string,
  claimed: Claim,
  deps: CreateDeps,
): Promise<GatewayRefusal> {
  if (claimed.isShared !== true && claimed.unsentTask === undefined) await releaseKey(claimed, deps);
  return unavailable(what, problem, deps);
}

async function send(
  task: Task,
  body: string,
  { isNew, ...claimed }: Claim & { readonly isNew: boolean },
  deps: CreateDeps,
): Promise<Created | GatewayRefusal> {
  const { tasks } = deps;
  const sent = await deps.send(task.progress.current ?? '', body);
  if (sent.ok) {
    if (claimed.key !== undefined)
      await warnIfRefused(
        tasks.confirmKey(claimed.key, task.id),
        'an idempotency key could not be confirmed',
        deps,
      );
    return { ok: true, task, isNew };
  }
  const error = { type: 'Unavailable', message: 'the envelope could not be sent' };
  const end = { state: 'failed', reason: 'RuntimeError', error } as const;
  await tasks.update(task.id, (one) => endTask(one, end, deps.clock.now()));
  await releaseKey(claimed, deps);
  return unavailable('the envelope could not be sent', sent.problem, deps);
}

async function releaseKey({ key, taskId }: Claim, deps: GatewayDeps): Promise<void> {
  if (key === undefined) return;
  await warnIfRefused(deps.tasks.releaseKey(key, taskId), 'an idempotency key could not be released', deps);
}

/** Only logs: the answer to this request does not depend on the key, only a later request with the same key does. */
async function warnIfRefused(
  replied: Promise<Reply>,
  what: string,
  { telemetry }: GatewayDeps,
): Promise<void> {
  const reply = await replied;
  if (!reply.ok) telemetry.warn(what, { problem: reply.problem });
}

function newTask(caller: Caller, flow: Flow, { id, route }: Envelope, now: number): Task {
  const deadlineMs = deadlineOf(flow, now);
  return createTask({
    id,
    flow: flow.name,
    owner: caller.id,
    route,
    now,
    ...defined({ deadlineMs }),
  });
}

function deadlineOf({ timeoutSeconds }: Flow, now: number): number | undefined {
  return timeoutSeconds === undefined ? undefined : now + timeoutSeconds * 1000;
}

/** The root envelope. It has the task's id. */
function envelopeFor(
  id: string,
  flow: Flow,
  payload: JsonText,
  { traceparent }: CreateOptions,
  now: number,
): Envelope {
  const at = timestampText(now);
  const deadlineMs = deadlineOf(flow, now);
  const marked = withHeader(withHeader(NO_HEADERS, TASK, id), FLOW, flow.name);
  const json = readJson(payload);
  return {
    id,
    route: { prev: [], curr: flow.entrypoint, next: flow.routeNext },
    headers:
      traceparent === undefined || !isTraceparent(traceparent)
        ? marked
        : withHeader(marked, 'traceparent', traceparent),
    payload: json.kind === 'invalid' ? payload : json.text,
    status: {
      phase: 'pending',
      attempt: 1,
      created_at: at,
      updated_at: at,
      ...(deadlineMs !== undefined && { deadline_at: timestampText(deadlineMs) }),
    },
    extra: new Map(),
  };
}

/** Logs the problem. The caller only learns that a retry may help. */
export function unavailable(what: string, problem: string, deps: GatewayDeps): GatewayRefusal {
  deps.telemetry.warn(what, { problem });
  return { ok: false, kind: 'unavailable', detail: `${what}; try again` };
}
