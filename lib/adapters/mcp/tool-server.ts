import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  type Implementation,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import { defined } from '../../core/text/defined.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import { callTool } from './call-tool.ts';
import { RpcError } from './rpc-error.ts';
import { toolsOf } from './tools.ts';

export interface ToolServerOptions {
  readonly gateway: Gateway;
  readonly about: Implementation;
  readonly maxWaitMs?: number;
  readonly onBug: (error: unknown) => void;
}

export interface ToolRequest {
  readonly caller: Caller;
  /** The call's arguments, exactly as received. */
  readonly input: JsonText;
  readonly traceparent?: string;
}

/** Not used, but without it the SDK creates its own validator for every server, which is slow. */
const validator = new CfWorkerJsonSchemaValidator();

/** The SDK's low-level server for one request. The high-level one needs schemas of a library; ours are JSON Schema. */
export function toolServer(options: ToolServerOptions, request: ToolRequest): Server {
  const { gateway, about, maxWaitMs, onBug } = options;
  const { caller, input, traceparent } = request;
  const server = new Server(about, { capabilities: { tools: {} }, jsonSchemaValidator: validator });

  server.setRequestHandler(ListToolsRequestSchema, () =>
    hideInternalErrors(onBug, () => ({ tools: toolsOf(gateway, caller) })),
  );

  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    const timeout = maxWaitMs === undefined ? [] : [AbortSignal.timeout(maxWaitMs)];
    return hideInternalErrors(onBug, () =>
      callTool(gateway, caller, {
        tool: params.name,
        input,
        ...defined({ traceparent }),
        signal: AbortSignal.any([signal, ...timeout]),
        ...(progressToken !== undefined && {
          onProgress: (progress, message) =>
            sendNotification({
              method: 'notifications/progress',
              params: { progressToken, progress, total: 100, message },
            }),
        }),
      }),
    );
  });
  return server;
}

/** The SDK sends the message of any thrown error to the client. Only an RpcError may pass; others go to `onBug`. */
async function hideInternalErrors<T>(
  onBug: (error: unknown) => void,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RpcError) throw error;
    onBug(error);
    throw new RpcError(ErrorCode.InternalError, 'internal error');
  }
}
