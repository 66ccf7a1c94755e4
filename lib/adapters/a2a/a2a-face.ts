import { AgentCard } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler, LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { VersionNotSupportedError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { Caller } from '../../app/gateway/gateway.ts';
import { readJson } from '../../core/text/json-text.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import { eventStreamResponse } from './event-stream.ts';
import { V0_3, V1_0, versionOf } from './protocol-version.ts';
import { type HandlerOptions, requestHandler } from './request-handler.ts';

export interface A2aFaceOptions extends HandlerOptions {
  /** The gateway's public URL. Default: the origin of the request. */
  readonly baseUrl?: string;
  /** The longest a request waits. If the task is still running then, the answer contains its current state. */
  readonly maxWaitMs?: number;
  readonly keepAliveMs: number;
}

export interface A2aFace {
  /** The agent card, public, at `/.well-known/agent-card.json`. */
  card(request: Request): Promise<Response>;
  /** JSON-RPC, at `/a2a`. */
  handle(request: Request, caller: Caller): Promise<Response>;
}

/** The caller used to list the flows of the public card, and for nothing else. */
const CARD_READER: Caller = { id: 'agent-card' };

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** Serves flows as the skills of an A2A agent, in both protocol versions in use (1.0 and 0.3). */
export function a2aFace(options: A2aFaceOptions): A2aFace {
  const { baseUrl, maxWaitMs, keepAliveMs } = options;

  function handlerFor(request: Request, caller: Caller, body: string, signal: AbortSignal) {
    const traceparent = request.headers.get('traceparent');
    const base = baseUrl ?? new URL(request.url).origin;
    return requestHandler(options, {
      caller,
      url: `${base.replace(/\/+$/, '')}/a2a`,
      body,
      ...(traceparent === null ? {} : { traceparent }),
      signal,
    });
  }

  return {
    card: async (request) => {
      const handler = handlerFor(request, CARD_READER, '', request.signal);
      const card = await handler.getAgentCard();
      const headers = { 'cache-control': 'no-cache', vary: 'A2A-Version' };
      if (versionOf(request) !== V0_3) return Response.json(AgentCard.toJSON(card), { headers });
      const older = await new LegacyRestTransportHandler(handler).getAuthenticatedExtendedAgentCard(
        new ServerCallContext(),
      );
      return Response.json({ ...older, supportedInterfaces: card.supportedInterfaces }, { headers });
    },

    handle: async (request, caller) => {
      const refused = refusal(request);
      if (refused !== undefined) return refused;
      const body = textFromUtf8(new Uint8Array(await request.arrayBuffer()));
      if (body === undefined) return rpcRefusal(400, PARSE_ERROR, 'the body is not UTF-8');
      const message = readJson(body);
      if (message.kind === 'invalid') return rpcRefusal(400, PARSE_ERROR, 'the body is not JSON');
      const disconnected = new AbortController();
      const timeout = maxWaitMs === undefined ? [] : [AbortSignal.timeout(maxWaitMs)];
      const signal = AbortSignal.any([request.signal, disconnected.signal, ...timeout]);
      const handler = handlerFor(request, caller, body, signal);
      const isOlder = versionOf(request) === V0_3;
      const transport = isOlder
        ? new LegacyJsonRpcTransportHandler(handler)
        : new JsonRpcTransportHandler(handler);
      const rpcError = isOlder
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError
        : JsonRpcTransportHandler.mapToJSONRPCError;
      const context = new ServerCallContext({ requestedVersion: isOlder ? V0_3 : V1_0 });
      const answer = await transport.handle(body, context);
      if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
      const id: unknown = JSON.parse(body).id ?? null;
      const errorEvent = (error: unknown) => ({ jsonrpc: '2.0', id, error: rpcError(error) });
      try {
        return await eventStreamResponse({
          events: answer,
          errorEvent,
          keepAliveMs,
          onDisconnect: () => disconnected.abort(),
        });
      } catch (error) {
        return Response.json(errorEvent(error));
      }
    },
  };
}

function refusal(request: Request): Response | undefined {
  if (request.method !== 'POST')
    return rpcRefusal(405, INVALID_REQUEST, 'only POST is supported', { allow: 'POST' });
  const [mediaType = ''] = (request.headers.get('content-type') ?? '').split(';');
  if (mediaType.trim().toLowerCase() !== 'application/json') {
    return rpcRefusal(415, INVALID_REQUEST, 'the content type must be application/json');
  }
  if (versionOf(request) !== undefined) return undefined;
  const error = JsonRpcTransportHandler.mapToJSONRPCError(
    new VersionNotSupportedError(`unsupported A2A-Version; expected ${V1_0} or ${V0_3}`),
  );
  return Response.json({ jsonrpc: '2.0', id: null, error });
}

function rpcRefusal(status: number, code: number, message: string, headers: Record<string, string> = {}) {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status, headers });
}
