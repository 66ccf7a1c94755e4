import type { GatewayRefusal } from '../../app/gateway/gateway.ts';
import { defined } from '../../core/text/defined.ts';

/** Problem details (RFC 9457). They never repeat input. */
export interface Problem {
  readonly status: number;
  readonly detail: string;
  readonly errors?: GatewayRefusal['errors'];
  readonly headers?: Readonly<Record<string, string>>;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export function problemText({ status, detail, errors }: Problem): { title: string; body: string } {
  const title = TITLES[status] ?? 'Error';
  const problem = {
    type: 'about:blank',
    title,
    status,
    detail,
    ...defined({ errors }),
  };
  return { title, body: JSON.stringify(problem) };
}

export function problemResponse(problem: Problem): Response {
  const { status, headers = {} } = problem;
  return new Response(problemText(problem).body, {
    status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', ...headers },
  });
}

export function methodProblem(allow: string): Response {
  return problemResponse({ status: 405, detail: `method not allowed; use ${allow}`, headers: { allow } });
}

const STATUS_OF = { 'not-found': 404, invalid: 422, conflict: 409, unavailable: 503 } as const;

export function refusalResponse({ kind, detail, errors }: GatewayRefusal): Response {
  const retry = kind === 'unavailable' ? { headers: { 'retry-after': '5' } } : {};
  return problemResponse({
    status: STATUS_OF[kind],
    detail,
    ...defined({ errors }),
    ...retry,
  });
}
