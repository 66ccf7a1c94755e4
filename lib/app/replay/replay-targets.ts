import { isActorName } from '../../core/envelope/actor-name.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { Refusal, Reply } from '../../ports/reply.ts';

/** Checks whether an actor's queue exists. */
export type CheckQueue = (actor: string) => Promise<Reply>;

/** Why nothing can be sent to one target. */
export interface UnreachableTarget {
  /** The actor that the failure would be sent to. */
  readonly target: string;
  readonly problem: string;
  /** The queue does not exist. If not set, the broker refused the check or a send, for example by denying access. */
  readonly isQueueMissing?: true;
}

export type TargetCheck =
  | { readonly ok: true; readonly unreachable: ReadonlyMap<Failure, UnreachableTarget> }
  /** The broker refused the check of every target: nothing can be sent. */
  | Refusal;

/** The actor that a failure is sent to: where it failed, or the one chosen for all. */
export function targetOf({ actor }: Failure, to: string | undefined): string {
  return to ?? actor;
}

export function unreachableTarget(target: string, { problem, isQueueMissing }: Refusal): UnreachableTarget {
  return { target, problem, ...(isQueueMissing === true ? { isQueueMissing } : {}) };
}

/** Checks the queue of every actor that a failure would be sent to. */
export async function checkTargets(
  failures: readonly Failure[],
  to: string | undefined,
  checkQueue: CheckQueue,
): Promise<TargetCheck> {
  // A record may contain any text as its actor. Text that is not a name has no queue, and is reported as such later.
  const targets = [...new Set(failures.map((failure) => targetOf(failure, to)))].filter(isActorName);
  const checks = await Promise.all(targets.map((target) => checkTarget(target, checkQueue)));
  const problems = new Map(checks.flatMap((one) => (one === undefined ? [] : [[one.target, one]])));
  const [first] = checks;
  if (first !== undefined && checks.every((one) => one !== undefined && one.isQueueMissing !== true))
    return { ok: false, problem: first.problem };
  return {
    ok: true,
    unreachable: new Map(
      failures.flatMap((failure) => {
        const why = problems.get(targetOf(failure, to));
        return why === undefined ? [] : [[failure, why] as const];
      }),
    ),
  };
}

/** Undefined: its queue exists. */
async function checkTarget(target: string, checkQueue: CheckQueue): Promise<UnreachableTarget | undefined> {
  const reply = await checkQueue(target);
  if (reply.ok) return undefined;
  const { problem, isQueueMissing } = reply;
  return unreachableTarget(
    target,
    isQueueMissing ? reply : { ok: false, problem: `cannot check the queue of "${target}": ${problem}` },
  );
}
