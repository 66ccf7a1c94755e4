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
  /** Origins of web pages that may call. Requests without an `Origin` header, from outside a browser, are allowed. */
  readonly allowedOrigins: readonly string[];
  /** Interval of SSE comments, so that proxies do not close an idle connection: not every client requests progress. */
  readonly keepAliveMs: number;
}

const NO_INPUT = '{}' as JsonText;

/**
 * Serves flows as MCP tools over streamable HTTP. There are no sessions: on Lambda the next request may reach another
 * instance, and an instance that waits for a task receives no other request.
 */
export function mcpFace(options: McpFaceOptions): (request: Request, caller: Caller) => Promise<Response> {
  const { keepAliveMs } = options;
  return async (request, caller) => {
    const refused = refusal(request, options.allowedOrigins);
    if (refused !== undefined) return refused;
    const body = textFromUtf8(new Uint8Array(await request.arrayBuffer()));
    if (body === undefined) return rpcRefusal(400, 'the body is not UTF-8', ErrorCode.ParseError);
    const message = readJson(body);
    // Do not pass it to the SDK: its parser may accept such a body, and the tool would be called without its arguments.
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

/** Rejects unknown origins, against DNS rebinding from web pages of other sites. */
function refusal({ headers, method }: Request, allowedOrigins: readonly string[]): Response | undefined {
  const origin = headers.get('origin');
  if (origin !== null && !allowedOrigins.includes(origin)) return rpcRefusal(403, 'origin not allowed');
  if (method === 'POST') return undefined;
  const refused = rpcRefusal(405, 'only POST is supported: this server has no sessions');
  refused.headers.set('allow', 'POST');
  return refused;
}

function rpcRefusal(status: number, message: string, code: number = ErrorCode.InvalidRequest): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}

/** A tool call is answered with an event stream, which carries its progress; everything else with plain JSON. */
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
