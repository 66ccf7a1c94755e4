import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { GatewayRefusal } from '../../app/gateway/gateway.ts';

/**
 * An error for the client: the SDK reads `code` and `data`. The SDK's McpError is not used because it adds the code to
 * the message, and clients add it again.
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
  return new RpcError(ErrorCode.InvalidParams, 'unknown tool; call tools/list for the available ones');
}

/** The error for a call that did not create a task. */
export function refusedCall({ kind, detail, errors = [] }: GatewayRefusal): RpcError {
  if (kind === 'not-found') return unknownTool();
  if (kind === 'unavailable') return new RpcError(ErrorCode.InternalError, detail);
  const places = errors.map(({ place, problem }) => `${place}: ${problem}`).join('; ');
  const message = places === '' ? detail : `${detail}: ${places}`;
  return new RpcError(ErrorCode.InvalidParams, message, errors.length === 0 ? undefined : { errors });
}
