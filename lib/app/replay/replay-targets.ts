import { isActorName } from '../../core/envelope/actor-name.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { Refusal, Reply } from '../../ports/reply.ts';

/** Whether an actor's queue is there. */
export type Reach = (actor: string) => Promise<Reply>;

/** Why nothing can be sent to one target. */
export interface Stranded {
  /** The actor that the failure would be sent to. */
  readonly target: string;
  readonly problem: string;
  /** Its queue does not exist. Without it, the broker refused the look-up or a send, for example by denying access. */
  readonly isQueueMissing?: true;
}

export type Targets =
  | { readonly ok: true; readonly stranded: ReadonlyMap<Failure, Stranded> }
  /** The broker refused the look-up of every target: nothing can be sent. */
  | Refusal;

/** The actor that a failure is sent to: where it failed, or the one chosen for all. */
export function targetOf({ actor }: Failure, to: string | undefined): string {
  return to ?? actor;
}

export function strandedBy(target: string, { problem, isQueueMissing }: Refusal): Stranded {
  return { target, problem, ...(isQueueMissing === true ? { isQueueMissing } : {}) };
}

/** Looks up the queue of every actor that something would be sent to. */
export async function lookUpTargets(
  failures: readonly Failure[],
  to: string | undefined,
  reach: Reach,
): Promise<Targets> {
  // A record may contain any text as its actor. Text that is not a name has no queue, and is reported as such later.
  const targets = [...new Set(failures.map((failure) => targetOf(failure, to)))].filter(isActorName);
  const looked = await Promise.all(targets.map((target) => lookUp(target, reach)));
  const stranded = new Map(looked.flatMap((one) => (one === undefined ? [] : [[one.target, one]])));
  const [first] = looked;
  if (first !== undefined && looked.every((one) => one !== undefined && one.isQueueMissing !== true))
    return { ok: false, problem: first.problem };
  return {
    ok: true,
    stranded: new Map(
      failures.flatMap((failure) => {
        const why = stranded.get(targetOf(failure, to));
        return why === undefined ? [] : [[failure, why] as const];
      }),
    ),
  };
}

/** Undefined: its queue is there. */
async function lookUp(target: string, reach: Reach): Promise<Stranded | undefined> {
  const reply = await reach(target);
  if (reply.ok) return undefined;
  const { problem, isQueueMissing } = reply;
  return strandedBy(
    target,
    isQueueMissing
      ? reply
      : { ok: false, problem: `the queue of "${target}" cannot be looked up: ${problem}` },
  );
}
