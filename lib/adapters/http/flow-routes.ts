import type { Context, Hono } from 'hono';
import type { CreateOptions, Gateway } from '../../app/gateway/gateway.ts';
import type { Flow } from '../../core/task/flow.ts';
import { isFinal } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import { type JsonText, readJson } from '../../core/text/json-text.ts';
import type { FaceEnv } from './face-env.ts';
import { problemResponse, refusalResponse } from './problem.ts';
import { jsonBodyOf } from './request-body.ts';
import { taskPath, taskText } from './task-json.ts';

export interface FlowRouteOptions {
  readonly gateway: Gateway;
  readonly maxWaitMs: number;
}

export function addFlowRoutes(app: Hono<FaceEnv>, { gateway, maxWaitMs }: FlowRouteOptions): void {
  app.get('/flows', (c) => c.json({ flows: gateway.flows(c.get('caller')).map(flowJson) }));
  app.post('/flows/:name', async (c) => {
    const body = await jsonBodyOf(c);
    if (typeof body !== 'string') return body;
    const json = readJson(body);
    if (json.kind === 'invalid')
      return problemResponse({
        status: 400,
        detail: `the body is not valid JSON: error at character ${json.at}`,
      });
    const options = optionsOf(c);
    if (options instanceof Response) return options;
    return create(c, json.text, options);
  });

  async function create(c: Context<FaceEnv>, payload: JsonText, options: CreateOptions): Promise<Response> {
    const caller = c.get('caller');
    const created = await gateway.create(caller, c.req.param('name') ?? '', payload, options);
    if (!created.ok) return refusalResponse(created);
    const { id } = created.task;
    const waitMs = Math.min(waitOf(c.req.header('prefer')), maxWaitMs);
    const headers: Record<string, string> = {
      location: taskPath(id),
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(waitMs > 0 ? { 'preference-applied': `wait=${waitMs / 1000}` } : {}),
    };
    const status = created.isNew ? 201 : 200;
    const waited =
      waitMs > 0
        ? await gateway.waitUntilEnded(caller, id, waitMs, c.req.raw.signal)
        : { ok: true as const, task: created.task };
    const task = waited.ok ? waited.task : created.task;
    const ended = isFinal(task.state) ? await gateway.result(caller, id) : undefined;
    const result = ended?.ok ? ended.result.payload : undefined;
    return new Response(taskText(task, result), { status, headers });
  }
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

function optionsOf(c: Context): CreateOptions | Response {
  const idempotencyKey = c.req.header('idempotency-key');
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey))
    return problemResponse({
      status: 400,
      detail: 'an Idempotency-Key must be 1 to 200 visible ASCII characters',
    });
  const traceparent = c.req.header('traceparent');
  return defined({ idempotencyKey, traceparent });
}

/** `wait=10` in the Prefer header (RFC 7240), in milliseconds. An invalid value is ignored. */
function waitOf(prefer: string | undefined): number {
  const [, seconds = '0'] = /(?:^|[,;]\s*)wait\s*=\s*"?(\d{1,5})"?/i.exec(prefer ?? '') ?? [];
  return Number(seconds) * 1000;
}

function flowJson({ name, description, timeoutSeconds, mcp, entrypoint, routeNext }: Flow) {
  return {
    name,
    ...defined({ description }),
    route: [entrypoint, ...routeNext],
    ...defined({ timeout: timeoutSeconds }),
    ...(mcp !== undefined && { inputSchema: mcp.inputSchema }),
    links: { create: `/flows/${encodeURIComponent(name)}` },
  };
}
