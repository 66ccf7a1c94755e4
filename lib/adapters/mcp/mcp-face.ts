import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../../app/gateway/gateway.ts';
import {
  type Json,
  type JsonReading,
  type JsonText,
  readJson,
  stringFromJson,
} from '../../core/text/json-text.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import { onBodyEnd } from './on-body-end.ts';
import { type ToolServerOptions, toolServer } from './tool-server.ts';

export interface McpFaceOptions extends ToolServerOptions {
  /** Web pages that may call; programs that are no browsers send no origin, and always may. */
  readonly allowedOrigins: readonly string[];
  /** A comment so often, for those on the way who cut silent connections: not every client asks for progress. */
  readonly keepAliveMs: number;
}

const NO_INPUT = '{}' as JsonText;

/**
 * Flows as MCP tools, over streamable HTTP. Every request is served by itself, with no session: on Lambda the next one
 * may meet another instance, and an instance that waits for a task hears nothing else meanwhile.
 */
export function mcpFace(options: McpFaceOptions): (request: Request, caller: Caller) => Promise<Response> {
  const { keepAliveMs } = options;
  return async (request, caller) => {
    const refused = refusal(request, options.allowedOrigins);
    if (refused !== undefined) return refused;
    const body = textFromUtf8(new Uint8Array(await request.arrayBuffer()));
    if (body === undefined) return rpcRefusal(400, 'the body is not UTF-8', ErrorCode.ParseError);
    const message = readJson(body);
    // Nor is it handed on: what the SDK could read of it all the same would be called without its arguments.
    if (message.kind === 'invalid') return rpcRefusal(400, 'the body is not JSON', ErrorCode.ParseError);
    if (message.kind === 'array') return rpcRefusal(400, 'send one message at a time, not a batch');
    const traceparent = request.headers.get('traceparent');
    const server = toolServer(options, {
      caller,
      input: inputIn(message),
      ...(traceparent === null ? {} : { traceparent }),
    });
    const enableJsonResponse = !isCall(message);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse, keepAliveMs });
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    const close = () => void server.close();
    request.signal.addEventListener('abort', close, { once: true });
    const { url, method, headers } = request;
    return onBodyEnd(await transport.handleRequest(new Request(url, { method, headers, body })), close);
  };
}

/** A page of somebody else's, opened in a browser next to the gateway, shall not call it: DNS rebinding. */
function refusal({ headers, method }: Request, allowedOrigins: readonly string[]): Response | undefined {
  const origin = headers.get('origin');
  if (origin !== null && !allowedOrigins.includes(origin)) return rpcRefusal(403, 'this origin may not call');
  if (method === 'POST') return undefined;
  const refused = rpcRefusal(
    405,
    'only POST: there are no sessions, so there is nothing to listen to or to end',
  );
  refused.headers.set('allow', 'POST');
  return refused;
}

function rpcRefusal(status: number, message: string, code: number = ErrorCode.InvalidRequest): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

/** A call may take its time and tells of it: it is answered with an event stream, the rest with plain JSON. */
function isCall(message: JsonReading): boolean {
  return stringFromJson(memberOf(message, 'method')) === 'tools/call';
}

function inputIn(message: JsonReading): JsonText {
  const params = memberOf(message, 'params');
  return (params === undefined ? undefined : memberOf(readJson(params), 'arguments')) ?? NO_INPUT;
}

function memberOf(value: JsonReading | Json, name: string): JsonText | undefined {
  return value.kind === 'object' ? value.members.get(name) : undefined;
}
