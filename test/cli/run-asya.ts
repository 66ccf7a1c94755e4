import { stripVTControlCharacters } from 'node:util';
import { main } from '../../lib/cli/main.ts';
import type { Terminal } from '../../lib/cli/output/terminal.ts';

/** The output of a command, without colors, and its exit status. */
export interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** Both outputs, with colors and control characters. */
  readonly raw: string;
  readonly questions: readonly string[];
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly now?: () => number;
  /** The answer to every question. Without it the terminal is not interactive. */
  readonly answers?: boolean;
  readonly stop?: AbortSignal;
  /** Called after each write to stderr. */
  readonly onPrintError?: () => void;
}

/** Runs `asya` in this process, with a terminal that collects the output. */
export async function asya(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const { env = {}, cwd = '/', now = Date.now, answers, onPrintError } = options;
  const { stop = new AbortController().signal } = options;
  const out: string[] = [];
  const err: string[] = [];
  const questions: string[] = [];
  const terminal: Terminal = {
    env,
    cwd,
    now,
    print: (text) => out.push(text),
    printError: (text) => {
      err.push(text);
      onPrintError?.();
    },
    isInteractive: answers !== undefined,
    confirm: async (question) => {
      questions.push(question);
      return answers === true;
    },
    stop: () => stop,
  };
  const status = await main(argv, terminal);
  const raw = [...out, ...err].join('\n');
  const plain = (lines: readonly string[]) => stripVTControlCharacters(lines.join('\n'));
  return { status, out: plain(out), err: plain(err), raw, questions };
}

/** Runs `asya` in a folder, with a fixed clock. */
export function asyaAtNoon(cwd: string, ...argv: readonly string[]): Promise<Run> {
  return asya(argv, { cwd, now: () => Date.UTC(2026, 0, 1, 12, 0, 0, 250) });
}
