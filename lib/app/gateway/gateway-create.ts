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
import type { GatewayDeps, InputFault } from './gateway-deps.ts';
import { isOverdue } from './gateway-reconcile.ts';

/**
 * A task, and its envelope on its way. The task is kept before anything is sent, and its backstop armed: whatever
 * happens in between, nobody waits for ever.
 */
export async function createFor(
  caller: Caller,
  flow: Flow,
  payload: JsonText,
  options: CreateOptions,
  parts: GatewayDeps,
): Promise<Created | GatewayRefusal> {
  const faults = inputFaults(flow, payload, parts);
  if (faults.length > 0) {
    return {
      ok: false,
      kind: 'invalid',
      detail: "the input is not what the flow's inputSchema asks for",
      errors: faults,
    };
  }
  const claimed = await claim(caller, flow, payload, options, parts);
  if ('ok' in claimed) return claimed;
  const { taskId, left } = claimed;
  const now = left?.createdMs ?? parts.clock.now();
  const envelope = envelopeFor(taskId, flow, payload, options, now);
  const body = encode(envelope);
  const bytes = parts.countBytes(body);
  if (bytes > parts.maxBodyBytes) {
    await release(claimed, parts);
    const detail = `the envelope would have ${bytes} bytes; ${parts.maxBodyBytes} are allowed`;
    return { ok: false, kind: 'invalid', detail };
  }
  if (left === undefined) return start(taskOf(caller, flow, envelope, now), body, claimed, parts);
  const sent = await launch(left, body, claimed, parts);
  return sent.ok ? { ...sent, isNew: false } : sent;
}

/** A check goes down as deep as the value does. */
const DEEPEST_INPUT = 200;

function inputFaults({ mcp }: Flow, payload: JsonText, parts: GatewayDeps): readonly InputFault[] {
  if (mcp === undefined) return [];
  const read = shallowValueFromJson(payload, DEEPEST_INPUT);
  if (read === undefined) return [{ place: '', problem: `is nested deeper than ${DEEPEST_INPUT} levels` }];
  return parts.checkInput(mcp.inputSchema, read.value);
}

interface Claimed {
  readonly taskId: string;
  readonly key?: string;
  /** Kept before, but whoever did so crashed before its envelope was on its way. */
  readonly left?: Task;
}

/** Longer than it takes to keep a task and send its envelope, whatever is tried again meanwhile. */
const CRASHED_MS = 60_000;

/** Whose task it will be: a new one's, or that of a key which has none yet because somebody crashed in between. */
async function claim(
  caller: Caller,
  flow: Flow,
  payload: JsonText,
  { idempotencyKey }: CreateOptions,
  parts: GatewayDeps,
): Promise<Claimed | Created | GatewayRefusal> {
  const { tasks, clock, newId, deriveId } = parts;
  if (idempotencyKey === undefined) return { taskId: newId() };
  const key = deriveId('idempotency', caller.id, idempotencyKey);
  const digest = deriveId('request', flow.name, payload);
  const reply = await tasks.claimKey(key, { taskId: newId(), digest, atMs: clock.now() });
  if (!reply.ok) return unavailable('the key could not be claimed', reply.problem, parts);
  const { taskId } = reply.claim;
  if (reply.isFirst) return { taskId, key };
  if (reply.claim.digest !== digest) {
    return {
      ok: false,
      kind: 'conflict',
      detail: 'this Idempotency-Key was used for another request; take a new one',
    };
  }
  const known = await tasks.get(taskId);
  if (!known.ok) return unavailable('the task could not be read', known.problem, parts);
  const { task } = known;
  if (task === undefined) return { taskId, key };
  const { isSent = false, atMs } = reply.claim;
  const isLeft = !isSent && task.state === 'pending' && clock.now() - atMs >= CRASHED_MS;
  return isLeft && !isOverdue(task, clock.now())
    ? { taskId, key, left: task }
    : { ok: true, task, isNew: false };
}

async function start(
  task: Task,
  body: string,
  claimed: Claimed,
  parts: GatewayDeps,
): Promise<Created | GatewayRefusal> {
  const { tasks } = parts;
  const kept = await tasks.create(task);
  if (kept.ok) return launch(task, body, claimed, parts);
  // Somebody else with the same key was quicker.
  const there = claimed.key === undefined ? undefined : await tasks.get(task.id);
  if (there?.ok && there.task !== undefined) return { ok: true, task: there.task, isNew: false };
  await release(claimed, parts);
  return unavailable('the task could not be kept', kept.problem, parts);
}

async function launch(
  task: Task,
  body: string,
  claimed: Claimed,
  parts: GatewayDeps,
): Promise<Created | GatewayRefusal> {
  const { tasks, send, arm } = parts;
  const armed =
    task.deadlineMs === undefined
      ? ({ ok: true } as const)
      : await arm({ task: task.id, dueMs: task.deadlineMs });
  const sent = armed.ok ? await send(task.progress.current ?? '', body) : armed;
  if (sent.ok) {
    if (claimed.key !== undefined)
      await told(tasks.confirmKey(claimed.key, task.id), 'a key could not be confirmed', parts);
    return { ok: true, task, isNew: true };
  }
  const error = { type: 'Unavailable', message: 'the envelope could not be sent' };
  const end = { state: 'failed', reason: 'RuntimeError', error } as const;
  await tasks.update(task.id, (one) => endTask(one, end, parts.clock.now()));
  await release(claimed, parts);
  return unavailable('the envelope could not be sent', sent.problem, parts);
}

async function release({ key, taskId }: Claimed, parts: GatewayDeps): Promise<void> {
  if (key === undefined) return;
  await told(parts.tasks.releaseKey(key, taskId), 'a key could not be released', parts);
}

/** The request is answered all the same: it is the next one with this key that would wonder. */
async function told(replied: Promise<Reply>, what: string, { telemetry }: GatewayDeps): Promise<void> {
  const reply = await replied;
  if (!reply.ok) telemetry.warn(what, { problem: reply.problem });
}

function taskOf(caller: Caller, flow: Flow, { id, route }: Envelope, now: number): Task {
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

/** The root: its id is the task's. */
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

/** What is wrong inside is for the log: a caller can only come again. */
export function unavailable(what: string, problem: string, parts: GatewayDeps): GatewayRefusal {
  parts.telemetry.warn(what, { problem });
  return { ok: false, kind: 'unavailable', detail: `${what}; try again` };
}
