import { stripVTControlCharacters } from 'node:util';
import { main } from '../../lib/cli/main.ts';
import type { Terminal } from '../../lib/cli/output/terminal.ts';

/** What a command printed, without colours, and its exit status. */
export interface Run {
  readonly status: number;
  readonly out: string;
  readonly err: string;
  /** All of it as it would reach the screen. */
  readonly raw: string;
  readonly questions: readonly string[];
}

export interface Sitting {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly now?: () => number;
  /** Somebody sits there and answers so. */
  readonly answers?: boolean;
  readonly stop?: AbortSignal;
  /** Told of words beside the output as they are said. */
  readonly onSay?: () => void;
}

/** `asya` with these arguments, at a terminal that keeps what is said. */
export async function asya(argv: readonly string[], sitting: Sitting = {}): Promise<Run> {
  const { env = {}, cwd = '/', now = Date.now, answers, onSay } = sitting;
  const { stop = new AbortController().signal } = sitting;
  const out: string[] = [];
  const err: string[] = [];
  const questions: string[] = [];
  const terminal: Terminal = {
    env,
    cwd,
    now,
    print: (text) => out.push(text),
    say: (text) => {
      err.push(text);
      onSay?.();
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

/** The same from a folder, at noon of a day that never changes. */
export function asyaAtNoon(cwd: string, ...argv: readonly string[]): Promise<Run> {
  return asya(argv, { cwd, now: () => Date.UTC(2026, 0, 1, 12, 0, 0, 250) });
}
