import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { FaceEnv } from './face-env.ts';
import { problemResponse } from './problem.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/** Without an address yet: what is not there and what goes wrong is told as everywhere. */
export function baseApp(telemetry: Pick<Telemetry, 'warn'>): Hono<FaceEnv> {
  const app = new Hono<FaceEnv>();
  app.onError((error, c) => {
    if (isClientGone(error, c.req.raw.signal))
      return problemResponse({ status: 400, detail: 'the request ended before its body did' });
    telemetry.warn('a bug in the gateway', { problem: error.stack ?? error.message });
    return problemResponse({ status: 500, detail: 'something went wrong here; it was noted' });
  });
  app.notFound(() => problemResponse({ status: 404, detail: 'there is nothing at this address' }));
  app.use(async (c, next) => {
    await next();
    c.header('x-content-type-options', 'nosniff');
  });
  return app;
}

/** Node's error for a body whose connection was closed before its end. Nobody receives the answer. */
function isClientGone(error: Error, { aborted }: AbortSignal): boolean {
  return aborted && error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET';
}

export function limitBody(): MiddlewareHandler<FaceEnv> {
  return bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: () =>
      problemResponse({
        status: 413,
        detail: `a body may have ${MAX_BODY_BYTES} bytes at the most`,
        // What is left of it is not read: nobody else is to come through this connection.
        headers: { connection: 'close' },
      }),
  });
}
