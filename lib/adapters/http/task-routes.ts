import type { Hono } from 'hono';
import type { Gateway } from '../../app/gateway/gateway.ts';
import { isFinal } from '../../core/task/task.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { eventStream } from './event-stream.ts';
import type { FaceEnv } from './face-env.ts';
import { methodProblem, problemResponse, refusalResponse } from './problem.ts';
import { taskJson, taskText } from './task-json.ts';

export interface TaskRouteOptions {
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly telemetry: Pick<Telemetry, 'warn'>;
}

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' };

export function addTaskRoutes(app: Hono<FaceEnv>, options: TaskRouteOptions): void {
  const { gateway, clock, keepAliveMs, telemetry } = options;
  app.get('/tasks', async (c) => {
    const page = await gateway.tasks(c.get('caller'), c.req.query('cursor'));
    if (!page.ok) return refusalResponse(page);
    const { tasks, next } = page;
    const links = next === undefined ? {} : { links: { next: `/tasks?cursor=${encodeURIComponent(next)}` } };
    return c.json({ tasks: tasks.map(taskJson), ...links }, 200, { 'cache-control': 'no-store' });
  });
  app.get('/tasks/:id', async (c) => {
    const got = await gateway.result(c.get('caller'), c.req.param('id'));
    if (!got.ok) return refusalResponse(got);
    return new Response(taskText(got.result.task, got.result.payload), { headers: JSON_HEADERS });
  });
  app.delete('/tasks/:id', async (c) => {
    const canceled = await gateway.cancel(c.get('caller'), c.req.param('id'));
    if (!canceled.ok) return refusalResponse(canceled);
    return new Response(taskText(canceled.task), { headers: JSON_HEADERS });
  });
  app.get('/tasks/:id/events', async (c) => {
    // The body of a HEAD request is never read, so nothing would end the stream.
    if (c.req.method === 'HEAD') return methodProblem('GET');
    const caller = c.get('caller');
    const task = c.req.param('id');
    const found = await gateway.task(caller, task);
    if (!found.ok) return refusalResponse(found);
    const after = seqOf(c.req.header('last-event-id'));
    const lastSeq = found.task.events.at(-1)?.seq ?? 0;
    // A browser reconnects when a stream ends, unless it receives a 204.
    if (after === lastSeq && isFinal(found.task.state)) return new Response(null, { status: 204 });
    const stop = new AbortController();
    c.req.raw.signal.addEventListener('abort', () => stop.abort(), { once: true });
    const events = await gateway.events(caller, task, after, stop.signal);
    if (events === undefined) return problemResponse({ status: 404, detail: 'task not found' });
    return eventStream({ task, events, stop, clock, keepAliveMs, telemetry });
  });
}

/** Undefined if it is not a number: the stream then starts with the current state. */
function seqOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
