import type { Hono, MiddlewareHandler } from 'hono';
import type { Gateway } from '../../app/gateway/gateway.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { type Authenticate, tokenOf } from './authenticate.ts';
import { baseApp, limitBody } from './base-app.ts';
import type { FaceEnv } from './face-env.ts';
import { addFlowRoutes } from './flow-routes.ts';
import { limitConcurrency } from './limit-concurrency.ts';
import { openApi } from './open-api.ts';
import { methodProblem, problemResponse } from './problem.ts';
import { type Rate, rateLimit } from './rate-limit.ts';
import { addReportRoute, REPORTS } from './report-route.ts';
import { addTaskRoutes } from './task-routes.ts';
import type { VerifyReports } from './verify-reports.ts';

export interface HttpFaceOptions {
  readonly gateway: Gateway;
  readonly authenticate: Authenticate;
  /** Default: this app does not accept reports. */
  readonly verifyReports?: VerifyReports;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  readonly rate: Rate;
  readonly keepAliveMs: number;
  /** Upper limit for `Prefer: wait`. */
  readonly maxWaitMs: number;
  /** Concurrent requests of one caller in this process, streams included. @default 200 */
  readonly maxConcurrentRequests?: number;
}

/** The gateway's HTTP app: the same on Lambda, in a container and on the local machine. */
export interface HttpFace {
  readonly app: Hono<FaceEnv>;
  /**
   * Adds the routes of another face behind the same authentication: they read the caller with `c.get('caller')`.
   *
   * @param openPaths paths that need no credentials.
   */
  mountFace(mount: (app: Hono<FaceEnv>) => void, openPaths?: readonly string[]): void;
}

const MAX_CONCURRENT_REQUESTS = 200;
const HEALTH = '/healthz';

export function httpFace(options: HttpFaceOptions): HttpFace {
  const { gateway, telemetry, verifyReports } = options;
  const app = baseApp(telemetry);
  const open = new Set([HEALTH]);
  app.use(requireCaller(open, options));
  app.use(limitConcurrency(options.maxConcurrentRequests ?? MAX_CONCURRENT_REQUESTS));
  app.use(limitBody());
  app.get(HEALTH, (c) => c.json({ status: 'ok' }));
  app.get('/openapi.json', (c) => c.json(openApi(gateway.flows(c.get('caller')))));
  addFlowRoutes(app, options);
  addTaskRoutes(app, options);
  for (const [path, methods] of METHODS) app.all(path, () => methodProblem(methods));
  if (verifyReports !== undefined) {
    addReportRoute(app, gateway, verifyReports);
    app.all(REPORTS, () => methodProblem('POST'));
    // Reports are authenticated by their signature, not by a caller's credentials.
    open.add(REPORTS);
  }
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
] as const;

/** Default deny: every path that is not open needs valid credentials, including paths that do not exist. */
function requireCaller(open: ReadonlySet<string>, options: HttpFaceOptions): MiddlewareHandler<FaceEnv> {
  const { authenticate, clock, rate } = options;
  const takeToken = rateLimit(rate, clock.now);
  return async (c, next) => {
    if (open.has(c.req.path)) return next();
    const token = tokenOf(c.req.raw.headers);
    const caller = token === undefined ? undefined : await authenticate(token);
    if (caller === 'unavailable')
      return problemResponse({ status: 503, detail: 'the token could not be verified; try again' });
    if (caller === undefined) return unauthorized();
    const waitSeconds = takeToken(caller.id);
    if (waitSeconds > 0) {
      const headers = { 'retry-after': String(waitSeconds) };
      return problemResponse({ status: 429, detail: 'too many requests; retry later', headers });
    }
    c.set('caller', caller);
    return next();
  };
}

function unauthorized(): Response {
  return problemResponse({
    status: 401,
    detail: 'missing or invalid credentials; send Authorization: Bearer with an API key or a token',
    headers: { 'www-authenticate': 'Bearer' },
  });
}
