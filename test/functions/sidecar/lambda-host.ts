import { existsSync } from 'node:fs';
import type { Context, SQSEvent } from 'aws-lambda';
import type { SqsHandler } from '../../../lib/assembly/hosts/lambda.ts';

/** What Lambda does with a handler, without Lambda: loads it, then hands it the events that come over IPC. */

interface Invocation {
  readonly event: SQSEvent;
  readonly timeLeftMs: number;
  /** There is none left as soon as there is this file. */
  readonly overWithFile?: string;
}

export type Reply = { readonly loaded: true } | { readonly response: unknown } | { readonly error: string };

const reply = (message: Reply) => process.send?.(message);

const [, , name] = process.argv;
const { handler } = (await import(`../../../functions/${name}/index.ts`)) as { handler: SqsHandler };

process.on('message', async ({ event, timeLeftMs, overWithFile = '' }: Invocation) => {
  const endsAt = Date.now() + timeLeftMs;
  const context = {
    getRemainingTimeInMillis: () => (existsSync(overWithFile) ? 0 : endsAt - Date.now()),
  } as Context;
  try {
    reply({ response: await handler(event, context) });
  } catch (error) {
    reply({ error: String(error) });
  }
});
reply({ loaded: true });
