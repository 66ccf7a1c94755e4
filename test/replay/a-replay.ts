import { deriveId } from '../../lib/adapters/system/system.ts';
import { type CrewDeps, crewRuntime } from '../../lib/app/crew/crew.ts';
import {
  type ReplayEnd,
  type ReplayOptions,
  type ReplayProgress,
  replayFailures,
} from '../../lib/app/replay/replay.ts';
import { type FailureSelection, newestOfEach, selectFailures } from '../../lib/app/replay/select-failures.ts';
import { decode } from '../../lib/core/envelope/decode.ts';
import { isForSump } from '../../lib/core/envelope/end.ts';
import type { Envelope } from '../../lib/core/envelope/envelope.ts';
import type { Failure } from '../../lib/core/failure/failure.ts';
import { timestampText } from '../../lib/core/text/timestamp.ts';
import type { Clock } from '../../lib/ports/clock.ts';
import { ACCEPTED, type Reply } from '../../lib/ports/reply.ts';
import { type AutoAdvancingClock, autoAdvancingClock } from './auto-advancing-clock.ts';

/** Test fixture for replays: failures recorded by the real crew, and actors with a given result. */

export type Fields = Readonly<Record<string, unknown>>;

interface Sent {
  readonly to: string;
  readonly atMs: number;
  readonly body: string;
  readonly envelope: {
    readonly id: string;
    readonly route: { readonly prev: string[]; readonly curr: string; readonly next: string[] };
    readonly headers: Fields;
    readonly payload: unknown;
    readonly status?: Fields;
  };
}

/** The result of an envelope that was sent: its end after a delay, or none. */
export type Fate = { readonly end: 'succeeded' | 'failed' | 'canceled'; readonly afterMs?: number } | 'none';

export interface Scene {
  readonly clock: AutoAdvancingClock;
  readonly stores: Pick<CrewDeps, 'archive' | 'records' | 'failures'>;
  /** Everything that was sent, in order. */
  readonly sent: Sent[];
  /** The ids of `sent`. */
  sentIds(): readonly string[];
  /** Lets the crew record failed envelopes, each a second after the previous one. */
  fail(ids: readonly string[], changes?: Fields): Promise<void>;
  /** Lets the crew archive an envelope, and record it if it failed. */
  end(envelope: Envelope): Promise<void>;
  /** Ends an envelope that was sent: now, at this actor, in this phase. */
  endAs(body: string, actor: string, phase: string): Promise<void>;
  select(selection?: FailureSelection): Promise<readonly Failure[]>;
  replay(
    failures: readonly Failure[],
    options?: Partial<ReplayOptions>,
    tools?: Partial<Tools>,
  ): Promise<ReplayEnd>;
  /** The failure index's entries of one envelope, newest first. */
  entriesOf(id: string): Promise<readonly Failure[]>;
}

interface Tools {
  readonly fate: (id: string, sent: Sent) => Fate;
  readonly refuse: (id: string, to: string) => Reply;
  readonly checkQueue: (actor: string) => Promise<Reply>;
  readonly stop: AbortSignal;
  readonly clock: Clock;
  readonly noRamp: boolean;
  readonly onProgress: (progress: ReplayProgress) => void;
  readonly onSend: (sent: Sent) => void | Promise<void>;
}

const STAGES = [1, 10, 100] as const;

export function aScene(
  stores: Scene['stores'],
  clock = autoAdvancingClock(),
  changes: Partial<CrewDeps> = {},
): Scene {
  const deps: CrewDeps = {
    ...stores,
    reports: { report: async () => undefined },
    // The crew sleeps only for its timeouts, which must not advance the clock.
    clock: { now: clock.now, sleep: () => new Promise(() => {}) },
    deriveId,
    telemetry: { warn: () => {} },
    onFailure: () => {},
    ...changes,
  };
  const sink = crewRuntime({ role: 'sink', sump: 'x-sump' }, deps);
  const sump = crewRuntime({ role: 'sump' }, deps);
  const sent: Sent[] = [];
  let replays = 0;

  async function end(envelope: Envelope): Promise<void> {
    const ends = [await sink.call({ envelope, timeoutMs: 1_000 })];
    if (isForSump(envelope)) ends.push(await sump.call({ envelope, timeoutMs: 1_000 }));
    const fault = ends.find(({ kind }) => kind === 'fault');
    if (fault !== undefined) throw new Error(`the crew could not archive it: ${JSON.stringify(fault)}`);
  }

  function ended(body: string, to: string, phase: string): Envelope {
    const envelope = envelopeOf(body);
    const now = timestampText(clock.now());
    const status =
      phase === 'failed'
        ? { ...A_FAILURE, actor: to, created_at: now, updated_at: now }
        : { phase, reason: 'Completed', actor: to, updated_at: now };
    return { ...envelope, status: { ...envelope.status, ...status } };
  }

  return {
    clock,
    stores,
    sent,
    sentIds: () => sent.map(({ envelope }) => envelope.id),
    end,
    endAs: (body, actor, phase) => end(ended(body, actor, phase)),
    fail: async (ids, changes = {}) => {
      for (const id of ids) {
        await clock.sleep(1_000);
        await end(envelopeOf(JSON.stringify(aFailed(id, clock.now(), changes))));
      }
    },
    select: async (selection = { filter: {} }) => {
      const selected = await selectFailures(selection, stores.failures);
      if (!selected.ok) throw new Error(selected.problem);
      return newestOfEach(selected.failures);
    },
    entriesOf: async (id) => {
      const page = await stores.failures.ofEnvelope(id);
      if (!page.ok) throw new Error(page.problem);
      return page.failures;
    },
    replay: (failures, options = {}, tools = {}) => {
      const { fate = (): Fate => ({ end: 'succeeded' }), refuse = () => ACCEPTED, onSend } = tools;
      const all: ReplayOptions = {
        replay: `r-${++replays}`,
        timeoutMsOf: () => undefined,
        again: false,
        perSecond: 50,
        maxBodyBytes: Number.POSITIVE_INFINITY,
        ...(tools.noRamp ? {} : { stages: STAGES }),
        waitMs: 600_000,
        ...options,
      };
      return replayFailures(failures, all, {
        ...stores,
        clock: tools.clock ?? clock,
        deriveId,
        stop: tools.stop ?? new AbortController().signal,
        onProgress: tools.onProgress ?? (() => {}),
        checkQueue: tools.checkQueue ?? (async () => ACCEPTED),
        send: async (to, body) => {
          const envelope = JSON.parse(body) as Sent['envelope'];
          const reply = refuse(envelope.id, to);
          if (!reply.ok) return reply;
          const sending = { to, atMs: clock.now(), body, envelope };
          sent.push(sending);
          await onSend?.(sending);
          const result = fate(envelope.id, sending);
          if (result !== 'none') clock.after(result.afterMs ?? 100, () => end(ended(body, to, result.end)));
          return ACCEPTED;
        },
      });
    },
  };
}

const A_FAILURE = {
  phase: 'failed',
  reason: 'PolicyExhausted',
  attempt: 3,
  max_attempts: 3,
  decided_by: { policy: 'slow', rule: 0 },
  error: {
    type: 'pkg.ValueError',
    mro: ['Exception'],
    message: 'no such user: 17',
    traceback:
      'Traceback (most recent call last):\n  File "/app/score.py", line 7, in score\n    raise ValueError\n',
  },
};

function aFailed(id: string, now: number, { status, ...changes }: Fields): Fields {
  const at = timestampText(now);
  return {
    id,
    route: { prev: ['fetch'], curr: 'score', next: ['store'] },
    headers: { 'x-asya-flow': 'scores' },
    payload: { n: 1, secret: `payload of ${id}` },
    ...changes,
    status: {
      ...A_FAILURE,
      actor: 'score',
      created_at: at,
      updated_at: at,
      deadline_at: at,
      ...(status as Fields | undefined),
    },
  };
}

export function envelopeOf(body: string): Envelope {
  const arrival = decode(body, { actor: 'score', messageId: 'm-1', deriveId });
  if (arrival.kind === 'unreadable')
    throw new Error(`the envelope of this test is invalid: ${arrival.problem}`);
  return arrival.envelope;
}

export function ids(count: number, prefix = 'e'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}
