import type { Context } from 'hono';
import { problemResponse } from './problem.ts';

/** The body as text, where it says that it is JSON and is UTF-8; else what to answer. */
export async function jsonBodyOf(c: Context): Promise<string | Response> {
  const [type = ''] = (c.req.header('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    return problemResponse({ status: 415, detail: 'send application/json' });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await c.req.arrayBuffer());
  } catch (error) {
    // A body that is too long breaks off here, and what limits it answers.
    if (!(error instanceof TypeError)) throw error;
    return problemResponse({ status: 400, detail: 'the body is not UTF-8' });
  }
}
