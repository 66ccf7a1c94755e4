import type { SimulatedStep } from '../../../app/simulation/simulation.ts';
import { type Column, tableText } from '../../output/table.ts';
import { atText, happenedText, whyText } from './simulate-messages.ts';

interface Row {
  readonly step: SimulatedStep;
  /** Waits that follow each other are told once. */
  readonly times: number;
}

const FIRST_ROWS = 40;
const LAST_ROWS = 20;

const COLUMNS: readonly Column<Row>[] = [
  { title: 'TIME', text: ({ step }) => atText(step.atMs) },
  { title: 'ACTOR', text: ({ step }) => step.actor },
  { title: 'ATTEMPT', text: ({ step }) => attemptText(step) },
  {
    title: 'WHAT',
    text: ({ step, times }) => `${happenedText(step)}${times > 1 ? ` (${times} times)` : ''}`,
  },
  { title: 'WHY', text: ({ step }) => whyText(step) },
];

/** The timeline; of a very long one, the beginning and the end. */
export function simulatedTable(steps: readonly SimulatedStep[]): string {
  const rows = rowsOf(steps);
  const lines = tableText(COLUMNS, rows).split('\n');
  const left = rows.length - FIRST_ROWS - LAST_ROWS;
  return left <= 1
    ? lines.join('\n')
    : [
        ...lines.slice(0, 1 + FIRST_ROWS),
        `… ${left} more; --json tells them all`,
        ...lines.slice(-LAST_ROWS),
      ].join('\n');
}

function rowsOf(steps: readonly SimulatedStep[]): readonly Row[] {
  const rows: Row[] = [];
  for (const step of steps) {
    const last = rows.at(-1);
    const isSameWait = step.decision.kind === 'waits' && last?.step.decision.kind === 'waits';
    if (last !== undefined && isSameWait) rows[rows.length - 1] = { ...last, times: last.times + 1 };
    else rows.push({ step, times: 1 });
  }
  return rows;
}

function attemptText({ attempt, decision }: SimulatedStep): string {
  if (attempt === undefined) return '';
  const most = 'by' in decision ? decision.by.maxAttempts : undefined;
  return most === undefined ? String(attempt) : `${attempt} of ${most}`;
}
