import { appendFileSync } from 'node:fs';

interface Task {
  readonly act: 'double' | 'kill the function' | 'describe';
  readonly value?: number;
  readonly pidLog?: string;
}

/** A handler that can also simulate a crash of its function. */
export function act({ act: what, value = 0, pidLog }: Task): unknown {
  if (pidLog !== undefined) appendFileSync(pidLog, `${process.pid} ${process.env['FUNCTION_PID']}\n`);
  if (what === 'kill the function') process.kill(Number(process.env['FUNCTION_PID']), 'SIGKILL');
  if (what === 'describe')
    return { runtime: process.pid, parent: process.ppid, fn: process.env['FUNCTION_PID'] };
  return value * 2;
}
