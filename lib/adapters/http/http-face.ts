import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Gateway } from '../../app/gateway.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { type Authenticate, tokenOf } from './authenticate.ts';
import type { FaceEnv } from './face-env.ts';
import { addFlowRoutes } from './flow-routes.ts';
import { openApi } from './open-api.ts';
import { openRequests } from './open-requests.ts';
import { methodProblem, problemResponse } from './problem.ts';
import { type Rate, rateLimit } from './rate-limit.ts';
import { addReportRoute } from './report-route.ts';
import { addTaskRoutes } from './task-routes.ts';
import type { VerifyReports } from './verify-reports.ts';

export interface HttpFaceOptions {
  readonly gateway: Gateway;
  readonly authenticate: Authenticate;
  /** Undefined: nobody's reports are taken. */
  readonly verifyReports?: VerifyReports;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'trouble'>;
  readonly rate: Rate;
  readonly keepAliveMs: number;
  /** The longest that `Prefer: wait` is heeded. */
  readonly longestWaitMs: number;
  /** Requests of one caller that are under way in this process, streams included. */
  readonly mostAtOnce?: number;
}

/** One application, on Lambda, in a container and on this machine alike. */
export interface HttpFace {
  readonly app: Hono<FaceEnv>;
  /**
   * Adds another face behind the same door: its routes find who asks as `c.get('caller')`. Paths that need no
   * credentials are said to be open.
   */
  mountFace(mount: (app: Hono<FaceEnv>) => void, openPaths?: readonly string[]): void;
}

const MOST_AT_ONCE = 200;
const LONGEST_BODY_BYTES = 1024 * 1024;

/** For signed reports there is another proof than a caller's. */
const REPORTS = '/reports';
const HEALTH = '/healthz';

export function httpFace(options: HttpFaceOptions): HttpFace {
  const { gateway, telemetry, verifyReports } = options;
  const app = new Hono<FaceEnv>();
  const open = new Set([HEALTH, REPORTS]);
  app.onError((error) => {
    telemetry.trouble('a bug in the gateway', { problem: error.stack ?? error.message });
    return problemResponse({ status: 500, detail: 'something went wrong here; it was noted' });
  });
  app.notFound(() => problemResponse({ status: 404, detail: 'there is nothing at this address' }));
  app.use(async (c, next) => {
    await next();
    c.header('x-content-type-options', 'nosniff');
  });
  app.use(letIn(open, options));
  app.use(openRequests(options.mostAtOnce ?? MOST_AT_ONCE));
  app.use(
    bodyLimit({
      maxSize: LONGEST_BODY_BYTES,
      onError: () =>
        problemResponse({
          status: 413,
          detail: `a body may have ${LONGEST_BODY_BYTES} bytes at the most`,
          // What is left of it is not read: nobody else is to come through this connection.
          headers: { connection: 'close' },
        }),
    }),
  );
  app.get(HEALTH, (c) => c.json({ status: 'ok' }));
  app.get('/openapi.json', (c) => c.json(openApi(gateway.flows(c.get('caller')))));
  addFlowRoutes(app, options);
  addTaskRoutes(app, options);
  addReportRoute(app, REPORTS, gateway, verifyReports);
  for (const [path, methods] of METHODS) app.all(path, () => methodProblem(methods));
  return {
    app,
    mountFace: (mount, openPaths = []) => {
      for (const path of openPaths) open.add(path);
      mount(app);
    },
  };
}

const METHODS = [
  [HEALTH, 'GET'],
  ['/openapi.json', 'GET'],
  ['/flows', 'GET'],
  ['/flows/:name', 'POST'],
  ['/tasks', 'GET'],
  ['/tasks/:id', 'GET, DELETE'],
  ['/tasks/:id/events', 'GET'],
  [REPORTS, 'POST'],
] as const;

/** Default deny: whatever is not said to be open needs a proof of who asks, also what is not there. */
function letIn(open: ReadonlySet<string>, options: HttpFaceOptions): MiddlewareHandler<FaceEnv> {
  const { authenticate, clock, rate } = options;
  const takeToken = rateLimit(rate, clock.now);
  return async (c, next) => {
    if (open.has(c.req.path)) return next();
    const token = tokenOf(c.req.raw.headers);
    const caller = token === undefined ? undefined : await authenticate(token);
    if (caller === 'unavailable')
      return problemResponse({ status: 503, detail: 'the token cannot be checked now; try again' });
    if (caller === undefined) return unauthorized();
    const waitSeconds = takeToken(caller.id);
    if (waitSeconds > 0) {
      const headers = { 'retry-after': String(waitSeconds) };
      return problemResponse({ status: 429, detail: 'too many requests; come again later', headers });
    }
    c.set('caller', caller);
    return next();
  };
}

function unauthorized(): Response {
  return problemResponse({
    status: 401,
    detail: 'send a key or a token that is valid here: Authorization: Bearer ...',
    headers: { 'www-authenticate': 'Bearer' },
  });
}
