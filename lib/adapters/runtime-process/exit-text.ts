/** What is known about a process of the runtime that has ended, or that did not become ready. */
export interface Ending {
  /** How the process ended: `exited with status 1`. */
  exitReason?: string;
  /** Why V8 aborted the process, for example because the heap is full. */
  fatalError?: string;
  /** Whether it was killed because it did not become ready in time. */
  isLate?: boolean;
  /** The last line on stderr before the process was ready. */
  lastStderrLine?: string;
  /** Why a bundled runtime cannot load the handler. */
  hostProblem?: string;
}

/** These texts are stored with the failed envelope, so they are short. */
const MAX_LINE_CHARACTERS = 500;
/** V8 prints such a line when the heap is full, and then aborts the process. */
const FATAL_ERROR = 'FATAL ERROR: ';

/** Notes what a line on stderr tells about the end of the process. */
export function noteStderr(ending: Ending, line: string, isReady: boolean): void {
  if (!isReady && line.trim() !== '') ending.lastStderrLine = line;
  const problem = isReady ? undefined : hostProblemIn(line);
  if (problem !== undefined) ending.hostProblem ??= problem;
  if (line.startsWith(FATAL_ERROR)) ending.fatalError = line.slice(FATAL_ERROR.length);
}

/** The reason that a bundled runtime prints if it cannot load the handler. The lines after it are a stack trace. */
export function hostProblemIn(line: string): string | undefined {
  return /^asya-runtime: (cannot host .*)$/.exec(line)?.[1];
}

/** "the handler's process exited with status 3" */
export function exitText({ exitReason, fatalError }: Ending): string {
  const why = fatalError === undefined ? '' : ` (${fatalError.slice(0, MAX_LINE_CHARACTERS)})`;
  return `the handler's process ${exitReason}${why}`;
}

/** Explains a failed start without the log. `undefined`: the process is still starting. */
export function notReadyText(failedStart: Ending | undefined): string {
  if (failedStart === undefined) return "the handler's process did not become ready";
  const { lastStderrLine, hostProblem, isLate } = failedStart;
  const what = `${exitText(failedStart)}${isLate ? '' : ' while it was starting'}`;
  if (hostProblem !== undefined) return `${what}: ${hostProblem.slice(0, MAX_LINE_CHARACTERS)}`;
  return lastStderrLine === undefined
    ? what
    : `${what}; last line on stderr: ${lastStderrLine.slice(0, MAX_LINE_CHARACTERS)}`;
}
