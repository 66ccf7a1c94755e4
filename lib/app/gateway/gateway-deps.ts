import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Flow } from '../../core/task/flow.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Cancellations } from '../../ports/cancellations.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { Reply } from '../../ports/reply.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

/** Dependencies of the gateway's use cases. */
export interface GatewayDeps {
  /** The current flows. The local mesh changes them while the gateway runs. */
  readonly flows: () => readonly Flow[];
  readonly tasks: TaskStore;
  readonly cancellations: Cancellations;
  readonly archive: Pick<Archive, 'get'>;
  readonly records: Pick<EndRecords, 'ofEnvelope'>;
  /** Sends an encoded envelope to an actor's queue. */
  readonly send: (actor: string, body: string) => Promise<Reply>;
  /** Arms a backstop timer, before the envelope of its task is sent. */
  readonly arm: (timer: Timer) => Promise<Reply>;
  readonly checkInput: CheckInput;
  /** The transport's limit for an encoded envelope. */
  readonly maxBodyBytes: number;
  readonly countBytes: (text: string) => number;
  readonly clock: Clock;
  /** Must not be predictable: a task's id is known to its owner only. */
  readonly newId: () => string;
  readonly deriveId: DeriveId;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  /** How often a watched task is read from the store. */
  readonly pollMs: number;
  /** A task without a report for this long is reconciled with the archive: its last report may be lost. */
  readonly silentMs: number;
}

/** A backstop timer. */
export type Timer = TaskTimer | SweepTimer;

interface AnyTimer {
  readonly dueMs: number;
  /** When the timer first fired without success. Absent before that. */
  readonly failedMs?: number;
}

/** The timer of one task. */
export interface TaskTimer extends AnyTimer {
  readonly task: string;
}

/** A timer that tasks of one owner share. It is due when the last one of them is overdue. */
export interface SweepTimer extends AnyTimer {
  /** Tells the timers of several instances of the gateway apart. */
  readonly id: string;
  readonly owner: string;
  /** The tasks were created from `fromMs` to `toMs`, inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The timeout of their flow. */
  readonly timeoutMs: number;
}

/** Validates a value. The errors quote the schema, never the value. */
export type CheckInput = (schema: Readonly<Record<string, unknown>>, value: unknown) => readonly InputError[];

export interface InputError {
  readonly place: string;
  readonly problem: string;
}
