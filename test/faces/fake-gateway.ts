import { Validator } from '@cfworker/json-schema';
import type { Caller, Gateway, GatewayRefusal } from '../../lib/app/gateway/gateway.ts';
import type { Flow } from '../../lib/core/task/flow.ts';
import { isFinal, type Task, type TaskError, type TaskEvent } from '../../lib/core/task/task.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { JsonText } from '../../lib/core/text/json-text.ts';

/** How a flow's tasks run: automatically to this end, or step by step (`held`). */
type Behavior =
  | { readonly kind: 'echo' }
  | { readonly kind: 'answers'; readonly payload: string }
  | { readonly kind: 'fails'; readonly reason: string; readonly error: TaskError }
  | { readonly kind: 'held' };

/** An in-memory gateway with the same contract, without a mesh. */
export interface FakeGateway extends Gateway {
  addFlow(flow: Partial<Flow> & { readonly name: string }, behavior?: Behavior): void;
  removeFlow(name: string): void;
  /** Resolves with the ids, oldest first, once there are `count` tasks. */
  untilCreated(count: number): Promise<readonly string[]>;
  /** Advances a held task by one actor; after the last one it succeeds with its own input. */
  advance(id: string): void;
  pause(id: string): void;
  /** The number of open event streams. */
  listeners(): number;
  /** The input of a task. */
  inputOf(id: string): { readonly payload: JsonText; readonly traceparent?: string };
}

interface Entry {
  task: Task;
  readonly route: readonly string[];
  readonly input: { readonly payload: JsonText; readonly traceparent?: string };
  result?: JsonText;
}

type Step = Pick<TaskEvent, 'type' | 'state'> & Partial<Pick<TaskEvent, 'actor' | 'reason' | 'error'>>;

const NOT_FOUND: GatewayRefusal = { ok: false, kind: 'not-found', detail: 'task not found' };

export function fakeGateway(): FakeGateway {
  const flows = new Map<string, { readonly flow: Flow; readonly behavior: Behavior }>();
  const entries = new Map<string, Entry>();
  const keys = new Map<string, string>();
  const changed = new EventTarget();
  let listening = 0;

  function entryOf(caller: Caller, id: string): Entry | undefined {
    const entry = entries.get(id);
    return entry?.task.owner === caller.id ? entry : undefined;
  }

  function entryById(id: string): Entry {
    const entry = entries.get(id);
    if (entry === undefined) throw new Error(`unknown task ${id}`);
    return entry;
  }

  function applyEvent(entry: Entry, { type, state, actor, reason, error }: Step): void {
    const { task, route } = entry;
    if (isFinal(task.state)) return;
    const at = actor === undefined ? (isFinal(state) ? route.length : 0) : route.indexOf(actor);
    const progress = {
      done: route.slice(0, at),
      ...defined({ current: actor }),
      left: route.slice(at + 1),
      percent: Math.floor((100 * at) / route.length),
    };
    const why = defined({ reason, error });
    const seq = task.events.length + 1;
    const event: TaskEvent = {
      seq,
      atMs: seq,
      type,
      state,
      ...defined({ actor }),
      ...why,
      progress,
    };
    entry.task = {
      ...task,
      ...why,
      state,
      progress,
      updatedMs: seq,
      version: seq,
      events: [...task.events, event],
    };
    changed.dispatchEvent(new Event('change'));
  }

  function succeed(entry: Entry, payload: JsonText): void {
    entry.result = payload;
    applyEvent(entry, { type: 'ended', state: 'succeeded', reason: 'Completed' });
  }

  function run(entry: Entry, behavior: Behavior): void {
    if (behavior.kind === 'held') return;
    for (const actor of entry.route) applyEvent(entry, { type: 'processing', state: 'running', actor });
    if (behavior.kind === 'echo') succeed(entry, entry.input.payload);
    else if (behavior.kind === 'answers') succeed(entry, behavior.payload as JsonText);
    else
      applyEvent(entry, { type: 'ended', state: 'failed', reason: behavior.reason, error: behavior.error });
  }

  async function* eventsAfter(entry: Entry, afterSeq: number | undefined, signal: AbortSignal) {
    let seq = afterSeq ?? entry.task.events.length - 1;
    listening++;
    try {
      for (;;) {
        for (const event of entry.task.events.slice(seq)) {
          seq = event.seq;
          yield event;
        }
        if (isFinal(entry.task.state) || signal.aborted) return;
        if (entry.task.events.length === seq) await change(signal);
      }
    } finally {
      listening--;
    }
  }

  function change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      changed.addEventListener('change', () => resolve(), { once: true, signal });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  function createEntry(caller: Caller, flow: Flow, input: Entry['input']): Entry {
    const id = `task-${entries.size + 1}`;
    const entry: Entry = {
      input,
      route: [flow.entrypoint, ...flow.routeNext],
      task: {
        id,
        flow: flow.name,
        owner: caller.id,
        state: 'pending',
        createdMs: 0,
        updatedMs: 0,
        progress: { done: [], left: [], percent: 0 },
        children: {},
        events: [],
        version: 0,
      },
    };
    applyEvent(entry, { type: 'created', state: 'pending' });
    entries.set(id, entry);
    changed.dispatchEvent(new Event('change'));
    return entry;
  }

  return {
    flows: (caller) =>
      [...flows.values()].flatMap(({ flow }) =>
        caller.flows === undefined || caller.flows.includes(flow.name) ? [flow] : [],
      ),
    create: async (caller, name, payload, { idempotencyKey, traceparent } = {}) => {
      const offered = flows.get(name);
      if (offered === undefined || caller.flows?.includes(name) === false) {
        return { ok: false, kind: 'not-found', detail: 'flow not found' };
      }
      const errors = errorsIn(payload, offered.flow.mcp?.inputSchema);
      if (errors.length > 0) {
        return { ok: false, kind: 'invalid', detail: 'the input does not match the flow', errors };
      }
      const key = idempotencyKey === undefined ? undefined : JSON.stringify([caller.id, idempotencyKey]);
      const before = key === undefined ? undefined : keys.get(key);
      if (before !== undefined) return { ok: true, task: entryById(before).task, isNew: false };
      const entry = createEntry(caller, offered.flow, {
        payload,
        ...defined({ traceparent }),
      });
      if (key !== undefined) keys.set(key, entry.task.id);
      setImmediate(() => run(entry, offered.behavior));
      return { ok: true, task: entry.task, isNew: true };
    },
    task: async (caller, id) => {
      const entry = entryOf(caller, id);
      return entry === undefined ? NOT_FOUND : { ok: true, task: entry.task };
    },
    tasks: async (caller) => ({
      ok: true,
      tasks: [...entries.values()].flatMap(({ task }) => (task.owner === caller.id ? [task] : [])).reverse(),
    }),
    cancel: async (caller, id) => {
      const entry = entryOf(caller, id);
      if (entry === undefined) return NOT_FOUND;
      if (isFinal(entry.task.state)) {
        return { ok: false, kind: 'conflict', detail: `the task has ended: ${entry.task.state}` };
      }
      applyEvent(entry, { type: 'ended', state: 'canceled' });
      return { ok: true, task: entry.task };
    },
    result: async (caller, id) => {
      const entry = entryOf(caller, id);
      if (entry === undefined) return NOT_FOUND;
      const { task, result } = entry;
      return { ok: true, result: { task, ...defined({ payload: result }) } };
    },
    waitUntilEnded: async () => {
      throw new Error('not used by any face');
    },
    events: async (caller, id, afterSeq, signal) => {
      const entry = entryOf(caller, id);
      return entry === undefined ? undefined : eventsAfter(entry, afterSeq, signal);
    },
    report: async () => ({ canceled: [] }),
    expire: async () => {},
    sweep: async () => ({ hasMore: false }),
    addFlow: (flow, behavior = { kind: 'echo' }) => {
      const whole = { entrypoint: 'fetch', routeNext: ['enhance', 'upload', 'thank'], ...flow };
      flows.set(flow.name, { flow: whole, behavior });
    },
    removeFlow: (name) => flows.delete(name),
    untilCreated: async (count) => {
      while (entries.size < count) await change(new AbortController().signal);
      return [...entries.keys()];
    },
    advance: (id) => {
      const entry = entryById(id);
      const { current } = entry.task.progress;
      const next = entry.route[current === undefined ? 0 : entry.route.indexOf(current) + 1];
      if (next === undefined) succeed(entry, entry.input.payload);
      else applyEvent(entry, { type: 'received', state: 'running', actor: next });
    },
    pause: (id) => {
      const { current } = entryById(id).task.progress;
      applyEvent(entryById(id), {
        type: 'received',
        state: 'paused',
        ...defined({ actor: current }),
      });
    },
    listeners: () => listening,
    inputOf: (id) => entryById(id).input,
  };
}

function errorsIn(payload: JsonText, schema: Readonly<Record<string, unknown>> | undefined) {
  if (schema === undefined) return [];
  const { errors } = new Validator(schema, '2020-12', false).validate(JSON.parse(payload));
  return errors.map(({ instanceLocation, error }) => ({ place: instanceLocation, problem: error }));
}
