import { isActorName } from '../core/actor-name.ts';
import type { Failure } from '../core/failure.ts';
import type { Refusal, Reply } from '../ports/transport.ts';

/** Whether an actor's queue is there. */
export type Reach = (actor: string) => Promise<Reply>;

/** Why a failure cannot be sent now: its actor, and what the broker said of the queue. */
export interface Stranded {
  readonly withoutQueue: string;
  readonly problem: string;
}

export type Targets =
  | { readonly ok: true; readonly stranded: ReadonlyMap<Failure, Stranded> }
  /** The broker does not answer: nothing can be sent. */
  | Refusal;

/** Looks for the queue of every actor that something would be sent to. */
export async function lookUpTargets(
  failures: readonly Failure[],
  to: string | undefined,
  reach: Reach,
): Promise<Targets> {
  const actors = new Set(failures.map(({ actor }) => to ?? actor));
  const stranded = new Map<string, Stranded>();
  for (const actor of actors) {
    // Any text may stand where an actor failed; what is no name has no queue to look for, and is told as such.
    const reply = isActorName(actor) ? await reach(actor) : undefined;
    if (reply === undefined || reply.ok) continue;
    if (reply.isQueueMissing !== true)
      return { ok: false, problem: `the queue of "${actor}" cannot be looked for: ${reply.problem}` };
    stranded.set(actor, { withoutQueue: actor, problem: reply.problem });
  }
  return {
    ok: true,
    stranded: new Map(
      failures.flatMap((failure) => {
        const why = stranded.get(to ?? failure.actor);
        return why === undefined ? [] : [[failure, why] as const];
      }),
    ),
  };
}
