import type { MiddlewareHandler } from 'hono';
import { once } from '../../async/once.ts';
import type { FaceEnv } from './face-env.ts';
import { problemResponse } from './problem.ts';

/**
 * Limits each caller's concurrent requests in this process. A rate limit is not enough: streams and waits last for
 * minutes, and each of them polls the table.
 */
export function limitConcurrency(max: number): MiddlewareHandler<FaceEnv> {
  const open = new Map<string, number>();

  function acquire(caller: string): (() => void) | undefined {
    const before = open.get(caller) ?? 0;
    if (before >= max) return undefined;
    open.set(caller, before + 1);
    return once(() => {
      const remaining = (open.get(caller) ?? 1) - 1;
      if (remaining === 0) open.delete(caller);
      else open.set(caller, remaining);
    });
  }

  return async (c, next) => {
    const caller = c.get('caller') as { readonly id: string } | undefined;
    if (caller === undefined) return next();
    const release = acquire(caller.id);
    if (release === undefined) {
      const detail = `too many concurrent requests (maximum ${max}, streams included); close some of them`;
      return problemResponse({ status: 429, detail, headers: { 'retry-after': '5' } });
    }
    try {
      await next();
    } catch (error) {
      release();
      throw error;
    }
    const { body } = c.res;
    const isStream = c.res.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (body === null || !isStream) return release();
    // A stream counts until it has ended or the client disconnects.
    const ending = { flush: release, cancel: release };
    c.res = new Response(body.pipeThrough(new TransformStream(ending)), c.res);
  };
}
