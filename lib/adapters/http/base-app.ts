import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { FaceEnv } from './face-env.ts';
import { problemResponse } from './problem.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/** An app without routes: it answers unknown paths and internal errors as problem details. */
export function baseApp(telemetry: Pick<Telemetry, 'warn'>): Hono<FaceEnv> {
  const app = new Hono<FaceEnv>();
  app.onError((error, c) => {
    if (isClientGone(error, c.req.raw.signal))
      return problemResponse({
        status: 400,
        detail: 'the connection was closed before the body was complete',
      });
    telemetry.warn('internal error in the gateway', { problem: error.stack ?? error.message });
    return problemResponse({ status: 500, detail: 'internal error (logged)' });
  });
  app.notFound(() => problemResponse({ status: 404, detail: 'path not found' }));
  app.use(async (c, next) => {
    await next();
    c.header('x-content-type-options', 'nosniff');
  });
  return app;
}

/** Node's error when the connection is closed before the end of the body. The client does not receive the answer. */
function isClientGone(error: Error, { aborted }: AbortSignal): boolean {
  return aborted && error.message === 'aborted' && 'code' in error && error.code === 'ECONNRESET';
}

export function limitBody(): MiddlewareHandler<FaceEnv> {
  return bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: () =>
      problemResponse({
        status: 413,
        detail: `the body is too large; the maximum is ${MAX_BODY_BYTES} bytes`,
        // The rest of the body is not read, so the connection cannot be reused.
        headers: { connection: 'close' },
      }),
  });
}
