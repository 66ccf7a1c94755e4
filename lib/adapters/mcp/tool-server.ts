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
  /** The call's arguments, word for word. */
  readonly input: JsonText;
  readonly traceparent?: string;
}

/** Never used here, and given all the same: without it the SDK makes its own with every server, which is dear. */
const validator = new CfWorkerJsonSchemaValidator();

/** The SDK's server for one request. Its higher one takes schemas of a library; ours are JSON Schema already. */
export function toolServer(options: ToolServerOptions, request: ToolRequest): Server {
  const { gateway, about, maxWaitMs, onBug } = options;
  const { caller, input, traceparent } = request;
  const server = new Server(about, { capabilities: { tools: {} }, jsonSchemaValidator: validator });

  server.setRequestHandler(ListToolsRequestSchema, () =>
    hideInternalErrors(onBug, () => ({ tools: toolsOf(gateway, caller) })),
  );

  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    const long = maxWaitMs === undefined ? [] : [AbortSignal.timeout(maxWaitMs)];
    return hideInternalErrors(onBug, () =>
      callTool(gateway, caller, {
        tool: params.name,
        input,
        ...defined({ traceparent }),
        signal: AbortSignal.any([signal, ...long]),
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

/** The SDK hands a client whatever is thrown: what was not meant for it goes to the host. */
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
