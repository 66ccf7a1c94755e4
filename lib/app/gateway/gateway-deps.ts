import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Flow } from '../../core/task/flow.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { Reply } from '../../ports/reply.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

/** What the gateway works with. */
export interface GatewayDeps {
  /** As they stand now: they may change while it runs. */
  readonly flows: () => readonly Flow[];
  readonly tasks: TaskStore;
  readonly archive: Pick<Archive, 'get'>;
  readonly records: Pick<EndRecords, 'ofEnvelope'>;
  /** To an actor's queue. */
  readonly send: (actor: string, body: string) => Promise<Reply>;
  /** The task's backstop, armed before its envelope is sent. */
  readonly arm: (timer: Timer) => Promise<Reply>;
  readonly checkInput: CheckInput;
  /** The largest envelope that the transport takes. */
  readonly maxBodyBytes: number;
  readonly countBytes: (text: string) => number;
  readonly clock: Clock;
  /** Nobody can guess it. */
  readonly newId: () => string;
  readonly deriveId: DeriveId;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  /** How often a task is looked at while somebody watches it. */
  readonly pollMs: number;
  /** A task that was silent for so long is looked for in the archive: its last report may be lost. */
  readonly silentMs: number;
}

/** That a task's time is up then. */
export interface Timer {
  readonly task: string;
  readonly dueMs: number;
  /** Set once it fired in vain: when it did first. */
  readonly failedMs?: number;
}

/** What is wrong with a value, place by place, in words of the schema and never of the value. */
export type CheckInput = (schema: Readonly<Record<string, unknown>>, value: unknown) => readonly InputError[];

export interface InputError {
  readonly place: string;
  readonly problem: string;
}
