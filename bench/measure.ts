/** Two implementations of the same work, measured alternately in one process, so that noise affects both. */
export interface Contest {
  readonly name: string;
  readonly subject: () => Promise<unknown>;
  readonly peer: () => Promise<unknown>;
  /** Runs before each measurement. It is not measured. */
  readonly before?: () => Promise<void>;
  /** The number of units of work in one run. */
  readonly units: number;
  readonly rounds: number;
}

export interface ContestResult {
  readonly name: string;
  /** Microseconds per unit, the median of the rounds. */
  readonly subjectUs: number;
  readonly peerUs: number;
  /** Subject divided by peer: the median of the rounds' ratios. */
  readonly ratio: number;
}

const WARM_UP_ROUNDS = 3;

export async function runContest({
  name,
  subject,
  peer,
  before,
  units,
  rounds,
}: Contest): Promise<ContestResult> {
  const subjectTimes: number[] = [];
  const peerTimes: number[] = [];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    // The order alternates, so that garbage collection does not always affect the same one.
    const isSubjectFirst = round % 2 === 0;
    await before?.();
    const first = await time(isSubjectFirst ? subject : peer);
    await before?.();
    const second = await time(isSubjectFirst ? peer : subject);
    if (round < 0) continue;
    subjectTimes.push(isSubjectFirst ? first : second);
    peerTimes.push(isSubjectFirst ? second : first);
  }
  const ratios = subjectTimes.map((own, index) => own / (peerTimes[index] ?? Number.NaN));
  const perUnit = (times: readonly number[]) => (median(times) * 1000) / units;
  return { name, subjectUs: perUnit(subjectTimes), peerUs: perUnit(peerTimes), ratio: median(ratios) };
}

async function time(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
