import type { Envelope } from '../../core/envelope/envelope.ts';
import { errorOf } from '../../core/failure/failure.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import { attemptOf, endReasonText } from './failure-reason.ts';
import { oneLine, plainLines } from './plain-text.ts';

/** Frames of the runtime, the language and packages: the mistake is rarely there. */
const NOT_THE_USERS = /asya[-_]runtime|node:|node_modules|site-packages|<frozen |\/lib\/python\d/;
const FRAMES = 3;
const MAX_LINE = 160;

/** How an envelope ended, on one line: "failed at score: exhausted (PolicyExhausted), attempt 3 of 3". */
export function endLine({ end, actor, reason, attempts }: EndRecord, envelope?: Envelope): string {
  const why = reason === '' ? '' : `: ${oneLine(endReasonText(reason, attempts, envelope), 80)}`;
  const tries = end === 'failed' && attempts !== undefined ? `, ${attemptOf(attempts, envelope)}` : '';
  return `${end} at ${oneLine(actor, 63)}${why}${tries}`;
}

/**
 * The error of a failed envelope: type and message, then the innermost frames of the user's own code. Empty without an
 * envelope: one that failed is always archived.
 */
export function errorLines(envelope: Envelope | undefined): readonly string[] {
  if (envelope === undefined) return [];
  const { type, message, traceback } = errorOf(envelope);
  return [
    `${oneLine(type, 100)}: ${oneLine(message, 500)}`,
    ...userFrames(traceback).map((line) => `  ${line}`),
  ];
}

/** The innermost frames of the user's code. Python prints the innermost last and adds the line of code, Node first. */
function userFrames(traceback: string): readonly string[] {
  if (traceback === '') return [];
  const lines = plainLines(traceback).map((line) => oneLine(line, MAX_LINE));
  const frames: string[][] = [];
  for (const line of lines) {
    const isPython = line.startsWith('File "');
    if (isPython || line.startsWith('at ')) frames.push([line]);
    else if (isCode(line, frames.at(-1))) frames.at(-1)?.push(`  ${line}`);
  }
  const own = frames.filter(([line = '']) => !NOT_THE_USERS.test(line));
  const isPython = frames.some(([line = '']) => line.startsWith('File "'));
  return (isPython ? own.slice(-FRAMES) : own.slice(0, FRAMES)).flat();
}

/** The line of code after a frame of Python. Other lines are markers, or the error itself. */
function isCode(line: string, frame: readonly string[] | undefined): boolean {
  return frame?.length === 1 && (frame[0] ?? '').startsWith('File "') && !/^[~^\s]*$/.test(line);
}
