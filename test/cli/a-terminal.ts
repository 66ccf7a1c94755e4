import { main } from '../../lib/cli/main.ts';
import type { Terminal } from '../../lib/cli/terminal.ts';

export interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** `asya`, called at a terminal that only listens. */
export async function asya(cwd: string, ...argv: readonly string[]): Promise<Said> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal: Terminal = {
    env: {},
    cwd,
    now: () => Date.UTC(2026, 0, 1, 12, 0, 0, 250),
    print: (text) => out.push(text),
    say: (text) => err.push(text),
    isInteractive: false,
    confirm: async () => false,
    stop: () => new AbortController().signal,
  };
  const status = await main(argv, terminal);
  return { status, out: out.join('\n'), err: err.join('\n') };
}
