import type { Context, SQSEvent } from 'aws-lambda';
import type { SqsHandler } from '../../../lib/assembly/hosts/lambda.ts';

/** A minimal replacement for Lambda. Loads a handler, then calls it with the events that it receives over IPC. */

interface Invocation {
  readonly event: SQSEvent;
  readonly timeLeftMs: number;
}

export type Reply = { readonly loaded: true } | { readonly response: unknown } | { readonly error: string };

const reply = (message: Reply) => process.send?.(message);

const [, , name] = process.argv;
const { handler } = (await import(`../../../functions/${name}/index.ts`)) as { handler: SqsHandler };

process.on('message', async ({ event, timeLeftMs }: Invocation) => {
  const endsAt = Date.now() + timeLeftMs;
  const context = {
    getRemainingTimeInMillis: () => endsAt - Date.now(),
  } as Context;
  try {
    reply({ response: await handler(event, context) });
  } catch (error) {
    reply({ error: String(error) });
  }
});
reply({ loaded: true });
