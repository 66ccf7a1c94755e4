import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest } from '../bad-request.ts';
import { errorObjectFrom } from '../error-object.ts';
import { callHandler, routeHeader } from '../handler/call-handler.ts';
import { contextFromEnvelope, contextFromHttp } from '../handler/context.ts';
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

/** Answers requests with one handler, for every protocol, and counts the calls in flight. */
export class HandlerHost {
  readonly settings: Settings;
  readonly #handler: Handler;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;

  constructor(handler: Handler, settings: Settings) {
    this.#handler = handler;
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

  /** Stops accepting calls. Resolves when no call is in flight, or after the grace period. */
  close(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
      else setTimeout(resolve, graceMs);
    });
  }

  /** Never rejects: a failure becomes an error reply. `httpHeaders` is undefined over the socket. */
  async answer(body: Buffer, httpHeaders: IncomingHttpHeaders | undefined): Promise<Reply> {
    const { isEnvelope, isFanOut } = this.settings;
    try {
      const request = decodeRequest(body);
      const context = isEnvelope ? contextFromEnvelope(request) : contextFromHttp(httpHeaders ?? {});
      const payload = context.envelope === undefined ? request : context.envelope.payload;
      const value = await callHandler(this.#handler, payload, context, isFanOut);
      if (value === undefined || value === null) return { status: 204, body: 'null' };
      return {
        status: 200,
        body: encodeResult(value),
        headers: routeHeader(context, httpHeaders !== undefined),
      };
    } catch (error) {
      const [status, code] = error instanceof BadRequest ? [400, 'bad_request'] : [500, 'processing_error'];
      return { status, body: JSON.stringify(errorObjectFrom(error, code)) };
    }
  }
}
