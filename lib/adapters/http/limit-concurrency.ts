import type { MiddlewareHandler } from 'hono';
import type { FaceEnv } from './face-env.ts';
import { problemResponse } from './problem.ts';

/** Streams and waits last for minutes, and each of them looks into the table: a rate alone does not bound them. */
export function limitConcurrency(most: number): MiddlewareHandler<FaceEnv> {
  const open = new Map<string, number>();

  function enter(caller: string): (() => void) | undefined {
    const before = open.get(caller) ?? 0;
    if (before >= most) return undefined;
    open.set(caller, before + 1);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const left = (open.get(caller) ?? 1) - 1;
      if (left === 0) open.delete(caller);
      else open.set(caller, left);
    };
  }

  return async (c, next) => {
    const caller = c.get('caller') as { readonly id: string } | undefined;
    if (caller === undefined) return next();
    const leave = enter(caller.id);
    if (leave === undefined) {
      const detail = `${most} requests of yours are under way, streams included; end some of them`;
      return problemResponse({ status: 429, detail, headers: { 'retry-after': '5' } });
    }
    try {
      await next();
    } catch (error) {
      leave();
      throw error;
    }
    const { body } = c.res;
    const isStream = c.res.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    if (body === null || !isStream) return leave();
    // Read to its end, or left by whoever read it.
    const ending = { flush: leave, cancel: leave };
    c.res = new Response(body.pipeThrough(new TransformStream(ending)), c.res);
  };
}
