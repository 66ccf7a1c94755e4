import type { Flow } from '../../core/task/flow.ts';

const TASK = { $ref: '#/components/schemas/Task' };
const PROBLEM = {
  description: 'Problem details (RFC 9457)',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
};
const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };

function json(description: string, schema: object) {
  return { description, content: { 'application/json': { schema } } };
}

/** The gateway's OpenAPI 3.1 document, with the given flows. */
export function openApi(flows: readonly Flow[]) {
  return {
    openapi: '3.1.0',
    info: { title: 'Asya gateway', version: '1' },
    security: [{ bearer: [] }],
    paths: {
      ...Object.fromEntries(flows.map((flow) => [`/flows/${flow.name}`, flowPath(flow)])),
      '/flows': {
        get: {
          summary: 'List the flows you may use',
          responses: { 200: json('Flows', {}), default: PROBLEM },
        },
      },
      '/tasks': {
        get: {
          summary: 'List your tasks, newest first',
          parameters: [{ name: 'cursor', in: 'query', schema: { type: 'string' } }],
          responses: {
            200: json('Tasks', { type: 'object', properties: { tasks: { type: 'array', items: TASK } } }),
            default: PROBLEM,
          },
        },
      },
      '/tasks/{id}': {
        parameters: [ID],
        get: {
          summary: 'Get a task, with its result once it has succeeded',
          responses: { 200: json('The task', TASK), default: PROBLEM },
        },
        delete: { summary: 'Cancel a task', responses: { 200: json('The task', TASK), default: PROBLEM } },
      },
      '/tasks/{id}/events': {
        parameters: [ID, { name: 'Last-Event-ID', in: 'header', schema: { type: 'integer' } }],
        get: {
          summary: 'Stream the events of a task; the first event is its current state',
          responses: {
            200: {
              description:
                'Server-sent events. The data of each event is a TaskEvent, and its name is the type of that event',
              content: { 'text/event-stream': { schema: { type: 'string' } } },
            },
            204: { description: 'The task has ended and has no further events' },
            default: PROBLEM,
          },
        },
      },
      '/healthz': {
        get: { summary: 'Health check', security: [], responses: { 200: json('Healthy', {}) } },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Task: TASK_SCHEMA, TaskEvent: EVENT_SCHEMA, Problem: PROBLEM_SCHEMA },
    },
  };
}

function flowPath({ description, mcp }: Flow) {
  return {
    post: {
      summary: description ?? 'Create a task',
      parameters: [
        { name: 'Prefer', in: 'header', schema: { type: 'string', examples: ['wait=10'] } },
        { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 200 } },
      ],
      requestBody: { required: true, content: { 'application/json': { schema: mcp?.inputSchema ?? {} } } },
      responses: {
        201: json('The task', TASK),
        200: json('The task that an earlier request with this Idempotency-Key created', TASK),
        default: PROBLEM,
      },
    },
  };
}

const STATE = { enum: ['pending', 'running', 'paused', 'succeeded', 'failed', 'canceled'] };
const ERROR = { type: 'object', properties: { type: { type: 'string' }, message: { type: 'string' } } };
const ROUTE_PROGRESS = {
  done: { type: 'array', items: { type: 'string' } },
  current: { type: 'string' },
  left: { type: 'array', items: { type: 'string' } },
  percent: { type: 'integer', minimum: 0, maximum: 100, description: 'Of the whole route. Never decreases' },
};
const HANDLER_PROGRESS = {
  actor: { type: 'string' },
  child: { type: 'string', description: 'Envelope id, if it is about a child of a fan-out' },
  percent: {
    type: 'number',
    minimum: 0,
    maximum: 100,
    description: 'Of the call, as the handler reported it',
  },
  message: { type: 'string' },
  data: { description: 'Any JSON, as the handler reported it' },
  at: { type: 'string', format: 'date-time' },
};

const EVENT_SCHEMA = {
  type: 'object',
  required: ['task', 'seq', 'type', 'state', 'progress', 'at'],
  properties: {
    task: { type: 'string' },
    seq: { type: 'integer', description: 'The id of the event. Increases, with gaps' },
    type: { enum: ['created', 'received', 'processing', 'progress', 'completed', 'ended'] },
    state: STATE,
    reason: { type: 'string' },
    error: ERROR,
    progress: { type: 'object', properties: ROUTE_PROGRESS },
    ...HANDLER_PROGRESS,
  },
};

const TASK_SCHEMA = {
  type: 'object',
  required: ['id', 'flow', 'state', 'created_at', 'updated_at', 'progress', 'children', 'links'],
  properties: {
    id: { type: 'string' },
    flow: { type: 'string' },
    state: STATE,
    reason: { type: 'string' },
    error: ERROR,
    created_at: { type: 'string', format: 'date-time' },
    updated_at: { type: 'string', format: 'date-time' },
    deadline_at: { type: 'string', format: 'date-time' },
    progress: {
      type: 'object',
      properties: {
        ...ROUTE_PROGRESS,
        latest: {
          type: 'object',
          description: 'What a handler reported last',
          properties: HANDLER_PROGRESS,
        },
      },
    },
    children: { type: 'object' },
    children_unlisted: { type: 'integer' },
    links: { type: 'object' },
    result: {
      description:
        'The final payload. Present if the task succeeded, as long as the archive contains its envelope.',
    },
  },
};

const PROBLEM_SCHEMA = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { place: { type: 'string' }, problem: { type: 'string' } } },
    },
  },
};
