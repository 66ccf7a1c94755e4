import { setTimeout as pause } from 'node:timers/promises';

/** The same handlers as in context_handlers.py, for the cases of the `asya:` protocol. A payload lists what to do. */

interface Route {
  readonly prev: readonly string[];
  readonly curr: string;
  readonly next: readonly string[];
}

/** The part of the context that the cases use. */
interface CaseContext {
  readonly envelopeId: string;
  readonly parentId?: string;
  readonly actor: string;
  readonly hop: number;
  readonly attempt: number;
  readonly maxAttempts?: number;
  readonly deadline?: Date;
  readonly route: Route;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly error?: object;
  readonly idempotencyKey: string;
  timeLeftMs(): number;
  cancelled(): boolean;
  setRouteNext(names: readonly string[]): void;
  setHeader(name: string, value: unknown): void;
  removeHeader(name: string): void;
  progress(update: object): void;
}

type Step = readonly [kind: string, ...values: unknown[]];

interface CasePayload {
  readonly do: 'facts' | 'value' | 'items' | 'lateitems' | 'keptcancelled';
  readonly steps?: readonly Step[];
  readonly value?: unknown;
}

function facts(context: CaseContext): unknown {
  return {
    id: context.envelopeId,
    parent: context.parentId ?? null,
    actor: context.actor,
    hop: context.hop,
    attempt: context.attempt,
    max: context.maxAttempts ?? null,
    deadline: context.deadline?.toISOString().replace('.000Z', 'Z') ?? null,
    route: context.route,
    headers: context.headers,
    traceparent: context.traceparent ?? null,
    tracestate: context.tracestate ?? null,
    error: context.error ?? null,
    key: context.idempotencyKey,
    hasTimeLeft: context.timeLeftMs() > 0 && context.timeLeftMs() <= 60_000,
    cancelled: context.cancelled(),
  };
}

/** The context of an earlier call. */
let kept: CaseContext | undefined;

async function act([kind, ...values]: Step, context: CaseContext): Promise<void> {
  const [first, second] = values;
  if (kind === 'next') context.setRouteNext(first as string[]);
  else if (kind === 'set') context.setHeader(first as string, second);
  else if (kind === 'remove') context.removeHeader(first as string);
  else if (kind === 'progress') context.progress(first as object);
  else if (kind === 'fail') throw new TypeError(first as string);
  else if (kind === 'keep') kept = context;
  else if (kind === 'late') kept?.progress(first as object);
  else if (kind === 'untilcancelled') {
    console.log('begun');
    while (!context.cancelled()) await pause(10);
  }
}

async function value({ steps = [], value }: CasePayload, context: CaseContext): Promise<unknown> {
  for (const step of steps) await act(step, context);
  return value;
}

async function* items({ steps = [] }: CasePayload, context: CaseContext): AsyncGenerator {
  for (const step of steps) {
    if (step[0] === 'yield') yield step[1];
    else await act(step, context);
  }
}

export function run(payload: CasePayload, context: CaseContext): unknown {
  if (payload.do === 'facts') return facts(context);
  if (payload.do === 'keptcancelled') return kept?.cancelled();
  return payload.do === 'value' ? value(payload, context) : items(payload, context);
}
