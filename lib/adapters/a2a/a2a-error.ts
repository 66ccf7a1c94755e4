import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
} from '@a2a-js/sdk/errors';
import type { GatewayRefusal } from '../../app/gateway/gateway.ts';

/** Why no task was made of a message. */
export function refusedMessage({ kind, detail, errors = [] }: GatewayRefusal): A2AError {
  if (kind === 'unavailable') return new A2AError(detail);
  const places = errors.map(({ place, problem }) => `${place}: ${problem}`).join('; ');
  return new RequestMalformedError({
    message: places === '' ? detail : `${detail}: ${places}`,
    metadata: Object.fromEntries(errors.map(({ place, problem }) => [place, problem])),
  });
}

/** Why a task cannot be shown or canceled. One of somebody else's is as none. */
export function refusedTask({ kind, detail }: GatewayRefusal): A2AError {
  if (kind === 'not-found') return new TaskNotFoundError();
  return kind === 'conflict' ? new TaskNotCancelableError(detail) : new A2AError(detail);
}

/** The SDK hands a client whatever is thrown: what was not meant for it goes to the host. */
export function forClient(error: unknown, onBug: (error: unknown) => void): A2AError {
  if (error instanceof A2AError) return error;
  onBug(error);
  return new A2AError('internal error');
}
