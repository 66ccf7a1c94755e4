import { hostProblemIn } from '../../adapters/runtime-process/exit-text.ts';
import type { LogLine } from './log-line.ts';

/** Why an actor's handler cannot be loaded. `undefined`: it works. */
export interface HandlerProblem {
  readonly actor: string;
  readonly problem: string | undefined;
}

interface Start {
  hasFailed: boolean;
  /** What the process printed about the reason. */
  reason?: string;
  /** The reason comes from the runtime itself. Lines after it are a stack trace. */
  isFromRuntime: boolean;
}

/** Follows the lines of the log. Returns a change if a handler cannot be loaded, or can be loaded again. */
export function handlerProblems(): (line: LogLine) => HandlerProblem | undefined {
  const starts = new Map<string, Start>();

  function note(start: Start, text: string): boolean {
    const problem = hostProblemIn(text);
    if (problem === undefined && (start.isFromRuntime || text.trim() === '')) return false;
    start.reason = problem ?? text.trim();
    start.isFromRuntime = problem !== undefined;
    return start.hasFailed;
  }

  return (line) => {
    const { actor } = line;
    const start = starts.get(actor) ?? { hasFailed: false, isFromRuntime: false };
    if (line.kind === 'output' && line.isStarting) {
      starts.set(actor, start);
      // The output may arrive after the end of the process.
      return note(start, line.text) ? { actor, problem: start.reason } : undefined;
    }
    if (line.kind === 'other' && line.start === 'failed') {
      starts.set(actor, { ...start, hasFailed: true });
      return { actor, problem: start.reason ?? line.text };
    }
    const works =
      (line.kind === 'other' && line.start === 'ready') || (line.kind === 'delivery' && line.end === 'done');
    if (!works) return undefined;
    starts.delete(actor);
    return start.hasFailed ? { actor, problem: undefined } : undefined;
  };
}
