import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Starts a helper process. Resolves with its first message, which it sends when it is ready. */
export async function startChild(
  script: string,
  ...args: readonly string[]
): Promise<{ child: ChildProcess; firstMessage: unknown }> {
  const child = fork(join(import.meta.dirname, script), args);
  const [firstMessage] = await once(child, 'message');
  return { child, firstMessage };
}

/** The child's answer to a question. */
export async function ask(child: ChildProcess, question: string): Promise<unknown> {
  const answer = once(child, 'message');
  child.send(question);
  const [message] = await answer;
  return message;
}

export async function stopChild(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
