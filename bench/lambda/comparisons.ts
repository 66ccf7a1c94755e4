import { median } from '../measure.ts';
import type { Row } from '../report.ts';
import type { Rounds } from './measure-functions.ts';

/** The cases of the benchmark by their names in the table. */
const CASES = {
  first: 'cold: first answer',
  warm1: 'warm: 1 record',
  warm10: 'warm: 10 records, per record',
  memory: 'memory',
} as const;

type Case = keyof typeof CASES;
type Goals = Readonly<Record<Case, number>>;

export const GOALS: Goals = { first: 0.9, warm1: 1, warm10: 2, memory: 1.3 };
export const GATEWAY_GOALS: Goals = { first: 1.1, warm1: 1.1, warm10: 1.1, memory: 1.1 };

/** A row per case: medians of both, and the median of the rounds' ratios. */
export function compare(
  group: string,
  measured: Readonly<Record<Case, Rounds>>,
  subject: string,
  peer: string,
  goals?: Goals,
): readonly Row[] {
  return (Object.keys(CASES) as Case[]).map((key) => {
    const rounds = measured[key];
    const of = (name: string) => rounds.map((round) => round.get(name) ?? Number.NaN);
    const ratio = median(of(subject).map((own, index) => own / (of(peer)[index] ?? Number.NaN)));
    const figures =
      key === 'memory'
        ? { subjectMb: median(of(subject)), peerMb: median(of(peer)) }
        : { subjectUs: median(of(subject)) * 1000, peerUs: median(of(peer)) * 1000 };
    return { group, name: CASES[key], ...figures, ratio, ...(goals && { atMost: goals[key] }) };
  });
}
