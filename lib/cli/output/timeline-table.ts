import type { SimulatedStep } from '../../app/simulation/simulation.ts';
import { type Column, tableText } from './table.ts';
import { atText, happenedText, whyText } from './timeline-messages.ts';

interface Row {
  readonly step: SimulatedStep;
  /** How many consecutive waits the row combines. */
  readonly times: number;
}

const HEAD_ROWS = 40;
const TAIL_ROWS = 20;

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

const ENVELOPE: Column<Row> = { title: 'ENVELOPE', text: ({ step }) => step.envelopeId };

/** The timeline of one envelope. A very long one is cut in the middle. */
export function timelineTable(steps: readonly SimulatedStep[]): string {
  const rows = rowsOf(steps);
  const lines = tableText(COLUMNS, rows).split('\n');
  const omitted = rows.length - HEAD_ROWS - TAIL_ROWS;
  return omitted <= 1
    ? lines.join('\n')
    : [
        ...lines.slice(0, 1 + HEAD_ROWS),
        `… ${omitted} more rows; --json prints all of them`,
        ...lines.slice(-TAIL_ROWS),
      ].join('\n');
}

/** The whole timeline. With a fan-out it names the envelope of each row. */
export function wholeTimelineTable(steps: readonly SimulatedStep[]): string {
  const isOneEnvelope = new Set(steps.map(({ envelopeId }) => envelopeId)).size <= 1;
  return tableText(isOneEnvelope ? COLUMNS : [ENVELOPE, ...COLUMNS], rowsOf(steps));
}

function rowsOf(steps: readonly SimulatedStep[]): readonly Row[] {
  const rows: Row[] = [];
  for (const step of steps) {
    const last = rows.at(-1);
    const isRepeatedWait =
      step.decision.kind === 'waits' &&
      last?.step.decision.kind === 'waits' &&
      step.envelopeId === last.step.envelopeId;
    if (last !== undefined && isRepeatedWait) rows[rows.length - 1] = { ...last, times: last.times + 1 };
    else rows.push({ step, times: 1 });
  }
  return rows;
}

function attemptText({ attempt, decision }: SimulatedStep): string {
  if (attempt === undefined) return '';
  const max = 'by' in decision ? decision.by.maxAttempts : undefined;
  return max === undefined ? String(attempt) : `${attempt} of ${max}`;
}
