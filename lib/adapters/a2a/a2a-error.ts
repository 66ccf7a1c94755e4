import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { GatewayRefusal } from '../../app/gateway/gateway.ts';

/** The error for a message that did not create a task. */
export function refusedMessage({ kind, detail, errors = [] }: GatewayRefusal): A2AError {
  if (kind === 'unavailable') return new A2AError(detail);
  const places = errors.map(({ place, problem }) => `${place}: ${problem}`).join('; ');
  return new RequestMalformedError({
    message: places === '' ? detail : `${detail}: ${places}`,
    metadata: Object.fromEntries(errors.map(({ place, problem }) => [place, problem])),
  });
}

/** The error for a task that cannot be read or canceled. Another caller's task is reported as not found. */
export function refusedTask({ kind, detail }: GatewayRefusal): A2AError {
  if (kind === 'not-found') return new TaskNotFoundError();
  return kind === 'conflict' ? new TaskNotCancelableError(detail) : new A2AError(detail);
}

/** The SDK sends the message of any thrown error to the client. Only an A2AError may pass; others go to `onBug`. */
export function forClient(error: unknown, onBug: (error: unknown) => void): A2AError {
  if (error instanceof A2AError) return error;
  onBug(error);
  return new A2AError('internal error');
}
