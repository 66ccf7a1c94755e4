import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { GatewayRefusal } from '../../app/gateway/gateway.ts';

/**
 * Meant for the client: the SDK reads `code` and `data`. Its own McpError would write the code into the message, and
 * every client writes it there again.
 */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export function unknownTool(): RpcError {
  return new RpcError(
    ErrorCode.InvalidParams,
    'there is no such tool; tools/list names those that there are',
  );
}

/** Why no task was made of a call. */
export function refusedCall({ kind, detail, errors = [] }: GatewayRefusal): RpcError {
  if (kind === 'not-found') return unknownTool();
  if (kind === 'unavailable') return new RpcError(ErrorCode.InternalError, detail);
  const places = errors.map(({ place, problem }) => `${place}: ${problem}`).join('; ');
  const message = places === '' ? detail : `${detail}: ${places}`;
  return new RpcError(ErrorCode.InvalidParams, message, errors.length === 0 ? undefined : { errors });
}
