import { anHttpServer, type HttpServer, type ReceivedRequest } from './a-http-server.ts';

/** A task in a request to Cloud Tasks. */
interface CreatedTask {
  readonly name: string;
  readonly scheduleTime: string;
  readonly httpRequest: {
    readonly httpMethod: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly oauthToken: { readonly serviceAccountEmail: string; readonly scope: string };
  };
}

export interface TaskService extends HttpServer {
  readonly tasks: CreatedTask[];
  /** Valid access tokens. */
  readonly tokens: Set<string>;
  /** Queues that exist. */
  readonly queues: Set<string>;
  /** Statuses to fail the next requests with; 0 closes the connection. */
  readonly nextFailures: number[];
}

const error = (status: number, name: string, message: string) => ({
  status,
  body: JSON.stringify({ error: { code: status, message, status: name } }),
});

const MS_PER_DAY = 86_400_000;

/** A fake Cloud Tasks: it creates and rejects tasks like the real service, but does not run them. */
export async function aTaskService(queue: string): Promise<TaskService> {
  const tasks: CreatedTask[] = [];
  const names = new Set<string>();
  const tokens = new Set(['good']);
  const queues = new Set([queue]);
  const nextFailures: number[] = [];
  const server = await anHttpServer(({ method, path, headers, text }: ReceivedRequest) => {
    const failure = nextFailures.shift();
    if (failure === 0) return undefined;
    if (failure !== undefined) return error(failure, 'FAILURE', 'temporary');
    const [, parent] = /^\/v2\/(.+)\/tasks$/.exec(path) ?? [];
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (!tokens.has(token)) return error(401, 'UNAUTHENTICATED', 'Request had invalid credentials.');
    if (method !== 'POST' || parent === undefined) return error(404, 'NOT_FOUND', 'no such method');
    if (!queues.has(parent)) return error(404, 'NOT_FOUND', 'Requested entity was not found.');
    const { task } = JSON.parse(text) as { task: CreatedTask };
    if (!/^[\w-]{1,500}$/.test(task.name.slice(`${parent}/tasks/`.length)))
      return error(400, 'INVALID_ARGUMENT', 'Task name must be formatted [...]');
    if (Date.parse(task.scheduleTime) > Date.now() + 30 * MS_PER_DAY + 60_000)
      return error(400, 'INVALID_ARGUMENT', 'The Task.scheduleTime is too far in the future.');
    if (names.has(task.name)) return error(409, 'ALREADY_EXISTS', 'Requested entity already exists');
    names.add(task.name);
    tasks.push(task);
    return { status: 200, body: JSON.stringify(task) };
  });
  return { ...server, tasks, tokens, queues, nextFailures };
}
