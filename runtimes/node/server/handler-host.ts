import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest } from '../bad-request.ts';
import { errorObjectFrom } from '../error-object.ts';
import { callHandler, collectFrames, collectValue, routeHeader } from '../handler/call-handler.ts';
import { infoFromEnvelope, infoFromHttp } from '../handler/call-info.ts';
import { type Call, type CallChannel, type CallInfo, startCall } from '../handler/context.ts';
import type { Handler } from '../handler/load-handler.ts';
import { decodeRequest, encodeResult } from '../json.ts';
import type { Settings } from '../settings.ts';

/** What the runtime answers. Over the socket only the body is sent. */
export interface Reply {
  /** As in HTTP: 200 a result, 204 no result, 400 a bad request, 500 the handler failed. */
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ROUTE_NEEDS =
  'the handler set the rest of the route, which the plain socket protocol cannot carry; ' +
  'use asya: or http: in ASYA_RUNTIME_URL, or set ASYA_RUNTIME_PROTOCOL=envelope';
const HEADERS_NEED =
  'the handler set a header, which the payload protocol cannot carry; ' +
  'use asya: in ASYA_RUNTIME_URL, or set ASYA_RUNTIME_PROTOCOL=envelope';

/** Answers requests with one handler, for every protocol, and counts the calls in flight. */
export class HandlerHost {
  readonly settings: Settings;
  readonly handler: Handler;
  readonly #calls = new Set<Call>();
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  constructor(handler: Handler, settings: Settings) {
    this.handler = handler;
    this.settings = settings;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Counts a call; false if the host is closing, and the call must not be made. Pair it with `finish`. */
  begin(): boolean {
    if (this.#onIdle !== undefined) return false;
    this.#inFlight += 1;
    return true;
  }

  finish(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  /** Asks the calls in flight to end early. */
  cancel(): void {
    for (const call of this.#calls) call.cancel();
  }

  /** Stops accepting calls and asks those in flight to end early. Resolves when none is left, or after the grace period. */
  close(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.cancel();
      if (this.#inFlight === 0) resolve();
      else setTimeout(resolve, graceMs);
    });
  }

  /** Runs `use` with the context of a call, which is canceled when the host closes. */
  async withCall<T>(info: CallInfo, channel: CallChannel, use: (call: Call) => Promise<T>): Promise<T> {
    const call = startCall(info, channel);
    this.#calls.add(call);
    try {
      return await use(call);
    } finally {
      this.#calls.delete(call);
      call.end();
    }
  }

  /** For protocols with one answer. Never rejects: a failure becomes an error reply. No `httpHeaders` over the socket. */
  async answer(body: Buffer, httpHeaders: IncomingHttpHeaders | undefined): Promise<Reply> {
    try {
      const request = decodeRequest(body);
      return this.settings.isEnvelope
        ? await this.#answerEnvelope(request)
        : await this.#answerPayload(request, httpHeaders);
    } catch (error) {
      const { status, text } = errorReply(error);
      return { status, body: text };
    }
  }

  #answerEnvelope(request: unknown): Promise<Reply> {
    const { envelope, info } = infoFromEnvelope(request);
    return this.withCall(info, {}, async (call) => {
      const returned = await callHandler(this.handler, envelope.payload, call.context);
      return replyOf(await collectFrames(returned, call, envelope, this.settings.isFanOut));
    });
  }

  #answerPayload(payload: unknown, httpHeaders: IncomingHttpHeaders | undefined): Promise<Reply> {
    const channel = {
      headersProblem: HEADERS_NEED,
      ...(httpHeaders === undefined ? { routeProblem: ROUTE_NEEDS } : {}),
    };
    return this.withCall(infoFromHttp(httpHeaders ?? {}), channel, async (call) => {
      const value = await collectValue(await callHandler(this.handler, payload, call.context));
      return { ...replyOf(value), headers: routeHeader(call.changes().next) };
    });
  }
}

function replyOf(value: unknown): Reply {
  return value === undefined || value === null
    ? { status: 204, body: 'null' }
    : { status: 200, body: encodeResult(value) };
}

/** The error object of a failed call as JSON, and its HTTP status. */
export function errorReply(error: unknown): { readonly status: number; readonly text: string } {
  const [status, code] = error instanceof BadRequest ? [400, 'bad_request'] : [500, 'processing_error'];
  return { status, text: JSON.stringify(errorObjectFrom(error, code)) };
}
