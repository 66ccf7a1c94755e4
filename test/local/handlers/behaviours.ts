import { appendFileSync } from 'node:fs';

interface Task {
  readonly act: 'double' | 'kill the function' | 'tell';
  readonly value?: number;
  readonly diary?: string;
}

/** A handler that can also simulate a crash of its function. */
export function act({ act: what, value = 0, diary }: Task): unknown {
  if (diary !== undefined) appendFileSync(diary, `${process.pid} ${process.env['FUNCTION_PID']}\n`);
  if (what === 'kill the function') process.kill(Number(process.env['FUNCTION_PID']), 'SIGKILL');
  if (what === 'tell') return { runtime: process.pid, parent: process.ppid, fn: process.env['FUNCTION_PID'] };
  return value * 2;
}
