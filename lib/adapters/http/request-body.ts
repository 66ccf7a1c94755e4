import type { Context } from 'hono';
import { problemResponse } from './problem.ts';

/** Returns the body as text, or an error response if it is not UTF-8 or its content type is not JSON. */
export async function jsonBodyOf(c: Context): Promise<string | Response> {
  const [type = ''] = (c.req.header('content-type') ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/json')
    return problemResponse({ status: 415, detail: 'the content type must be application/json' });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await c.req.arrayBuffer());
  } catch (error) {
    // Not a decoding error: for example, the body limit was exceeded while reading, and its middleware answers.
    if (!(error instanceof TypeError)) throw error;
    return problemResponse({ status: 400, detail: 'the body is not UTF-8' });
  }
}
