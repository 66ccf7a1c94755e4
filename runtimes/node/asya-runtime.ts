/**
 * Hosts one handler for the asya sidecar. Needs Node 24 or later and no packages.
 *
 *     node asya-runtime.ts ./score.ts.score        (or ./score.ts.Scorer.score, or ASYA_HANDLER)
 *
 * A handler takes the payload, and a context where it has a second argument without a default. What it returns goes
 * on, null and undefined end the route, each `yield` is one item of a fan-out; it may be async.
 *
 * The payload is read with JSON.parse: whole numbers beyond 2^53 lose their last digits, and what JSON.stringify
 * drops (undefined in an object, the inside of a Map) or makes null (NaN inside a value) is gone. Where 64-bit
 * numbers count, send them as strings, or use the Python runtime.
 */
import { fstatSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { connect, createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorObjectFrom, lookAt, tracebackOf } from './error-object.ts';
import { type Handler, loadHandler, Refusal } from './load-handler.ts';

/** What a handler may know beside its payload. Over the socket, without the envelope, nothing is known. */
export interface HandlerContext {
  readonly envelopeId: string | undefined;
  readonly attempt: number | undefined;
  readonly deadline: string | undefined;
  readonly traceparent: string | undefined;
  /** In the envelope protocol the envelope's, to be changed at will; else those of the HTTP request. */
  headers: Record<string, unknown>;
  readonly envelope: Envelope | undefined;
  /** Assign it to rewrite the rest of the route. */
  routeNext: readonly string[] | undefined;
}

export interface Envelope {
  readonly id: string;
  readonly route: {
    readonly prev: readonly string[];
    readonly curr: string;
    readonly next: readonly string[];
  };
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
  readonly status?: Readonly<Record<string, unknown>>;
}

interface Settings {
  readonly handler: string;
  readonly url: string;
  readonly isHttp: boolean;
  readonly address: { readonly path: string } | { readonly host: string; readonly port: number };
  readonly path: string;
  readonly isEnvelope: boolean;
  readonly isFanOut: boolean;
  readonly maxRequest: number;
}

interface Reply {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

class BadRequest extends Error {}
class ResultNotSerializable extends TypeError {}

const GRACE_MS = 5_000;
const IS_DEBUG = process.env['ASYA_LOG_LEVEL']?.toLowerCase() === 'debug';

function log(text: string): void {
  process.stderr.write(`asya-runtime: ${text}\n`);
}

// --- start ---

function settingsFrom(env: NodeJS.ProcessEnv, args: readonly string[]): Settings {
  const handler = args[0] ?? env['ASYA_HANDLER'] ?? '';
  if (args.length > 1 || handler === '') {
    const given =
      args.length > 0 ? `${args.length} were given` : 'none was given and ASYA_HANDLER is not set';
    throw new Refusal(`one argument must name the handler, such as ./score.ts.score; ${given}`);
  }
  const protocol = env['ASYA_RUNTIME_PROTOCOL'] || 'payload';
  if (protocol !== 'payload' && protocol !== 'envelope')
    throw new Refusal(`ASYA_RUNTIME_PROTOCOL is "${protocol}"; it may be "payload" or "envelope"`);
  const limit = env['ASYA_RUNTIME_MAX_REQUEST'] || String(16 * 1024 * 1024);
  if (!/^[1-9][0-9]{0,14}$/.test(limit))
    throw new Refusal(`ASYA_RUNTIME_MAX_REQUEST is "${limit}"; it must be a whole number of bytes above 0`);
  const url = env['ASYA_RUNTIME_URL'] || `unix:${env['ASYA_SOCKET_PATH'] || '/tmp/sockets/app.sock'}`;
  return {
    handler,
    url,
    ...placeFromUrl(url),
    isEnvelope: protocol === 'envelope',
    isFanOut: env['ASYA_FANOUT'] !== 'never',
    maxRequest: Number(limit),
  };
}

function placeFromUrl(url: string): Pick<Settings, 'isHttp' | 'address' | 'path'> {
  const socket = /^unix:(.+)$/.exec(url);
  if (socket?.[1]) return { isHttp: false, address: { path: resolve(socket[1]) }, path: '' };
  const unix = /^http\+unix:([^:]+):?(\/.*)?$/.exec(url);
  if (unix?.[1]) return { isHttp: true, address: { path: resolve(unix[1]) }, path: unix[2] ?? '/' };
  const tcp = /^http:\/\/(\[[0-9a-fA-F:.]+\]|[^[\]/:?#@]+)(?::([0-9]{1,5}))?(\/[^?#]*)?$/.exec(url);
  if (tcp?.[1] && Number(tcp[2] ?? 80) < 65_536) {
    const host = tcp[1].replace(/^\[|\]$/g, '');
    return { isHttp: true, address: { host, port: Number(tcp[2] ?? 80) }, path: tcp[3] ?? '/' };
  }
  throw new Refusal(
    `ASYA_RUNTIME_URL is "${url}"; it may be like unix:/tmp/sockets/app.sock, ` +
      'http://127.0.0.1:8080/invoke or http+unix:/tmp/sockets/app.sock:/invoke',
  );
}

// --- a call ---

function encode(value: unknown): string {
  let text: string | undefined;
  try {
    text = typeof value === 'number' && !Number.isFinite(value) ? undefined : JSON.stringify(value);
  } catch (error) {
    const told = String(lookAt(error, 'message')).split('\n')[0];
    throw new ResultNotSerializable(`the handler's result cannot be written as JSON: ${told}`, {
      cause: error,
    });
  }
  if (text !== undefined) return text;
  const kind = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new ResultNotSerializable(
    `the handler's result is ${kind}, which JSON cannot carry; return objects, arrays, strings, numbers, booleans or null`,
  );
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body));
  } catch (error) {
    throw new BadRequest(
      `the body of ${body.length} bytes is not JSON: ${lookAt(error, 'message')}; send one JSON value in UTF-8`,
    );
  }
}

function contextFromHttp(headers: IncomingHttpHeaders): HandlerContext {
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const attempt = text('x-asya-attempt') ?? '';
  return {
    envelopeId: text('x-asya-envelope-id'),
    attempt: /^[0-9]+$/.test(attempt) ? Number(attempt) : undefined,
    deadline: text('x-asya-deadline'),
    traceparent: text('traceparent'),
    headers: { ...headers },
    envelope: undefined,
    routeNext: undefined,
  };
}

function contextFromEnvelope(envelope: unknown): HandlerContext {
  if (!isEnvelope(envelope)) {
    throw new BadRequest(
      'the body is no envelope, which ASYA_RUNTIME_PROTOCOL=envelope asks for: ' +
        'it needs a payload and a route of prev, curr and next',
    );
  }
  return {
    envelopeId: envelope.id,
    attempt: lookAt(envelope, 'status.attempt') as number | undefined,
    deadline: lookAt(envelope, 'status.deadline_at') as string | undefined,
    traceparent: lookAt(envelope, 'headers.traceparent') as string | undefined,
    headers: { ...envelope.headers },
    envelope,
    routeNext: [...envelope.route.next],
  };
}

function isEnvelope(value: unknown): value is Envelope {
  const route = (key: string): unknown => lookAt(value, `route.${key}`);
  return (
    lookAt(value, 'payload') !== undefined &&
    typeof route('curr') === 'string' &&
    Array.isArray(route('prev')) &&
    isNames(route('next'))
  );
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function namesFrom(routeNext: unknown): readonly string[] {
  if (isNames(routeNext)) return routeNext;
  const shown = JSON.stringify(routeNext);
  throw new TypeError(`the handler set routeNext to ${shown}; it must be an array of actors' names`);
}

/** Taken at each yield, so that a handler can send each item another way. */
function frameFrom(payload: unknown, context: HandlerContext, { route, headers = {} }: Envelope): unknown {
  const [curr = '', ...next] = namesFrom(context.routeNext);
  const isSame = encode(context.headers) === encode(headers);
  return {
    payload: payload === undefined ? null : payload,
    route: { prev: [...route.prev, route.curr], curr, next },
    ...(isSame ? {} : { headers: { ...context.headers } }),
  };
}

function isGenerator(value: unknown): value is Generator {
  return Object.prototype.toString.call(value) === '[object Generator]';
}

function isAsyncGenerator(value: unknown): value is AsyncGenerator {
  return Object.prototype.toString.call(value) === '[object AsyncGenerator]';
}

/** Turns a request into an answer, and counts those under way so that the end can wait for them. */
class Host {
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

  begin(): boolean {
    if (this.#onIdle !== undefined) return false;
    this.#inFlight += 1;
    return true;
  }

  finish(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0) this.#onIdle?.();
  }

  /** Resolves once nothing is under way any more, or the time is up. */
  close(): Promise<void> {
    return new Promise((done) => {
      this.#onIdle = done;
      if (this.#inFlight === 0) done();
      else setTimeout(done, GRACE_MS);
    });
  }

  async answer(body: Buffer, httpHeaders: IncomingHttpHeaders | undefined): Promise<Reply> {
    try {
      const request = decode(body);
      const { isEnvelope } = this.settings;
      const context = isEnvelope ? contextFromEnvelope(request) : contextFromHttp(httpHeaders ?? {});
      const value = await this.#call(
        context.envelope === undefined ? request : context.envelope.payload,
        context,
      );
      if (value === undefined || value === null) return { status: 204, body: 'null' };
      return { status: 200, body: encode(value), headers: routeHeader(context, httpHeaders !== undefined) };
    } catch (error) {
      const [status, code] = error instanceof BadRequest ? [400, 'bad_request'] : [500, 'processing_error'];
      return { status, body: JSON.stringify(errorObjectFrom(error, code)) };
    }
  }

  /** What the answer says; null or undefined where nothing is to be sent on. */
  async #call(payload: unknown, context: HandlerContext): Promise<unknown> {
    const { envelope } = context;
    const take = (item: unknown): unknown => {
      if (envelope !== undefined) return frameFrom(item, context, envelope);
      return item === undefined ? null : item;
    };
    // `(payload, threshold = 0.5)` has a second argument too, and no use for a context in it; `length` tells.
    const value = await (this.#handler.length > 1 ? this.#handler(payload, context) : this.#handler(payload));
    const items: unknown[] = [];
    if (isAsyncGenerator(value)) for await (const item of value) items.push(take(item));
    else if (isGenerator(value)) for (const item of value) items.push(take(item));
    else if (envelope === undefined || value === undefined || value === null) return value;
    // An array means here what it means to the sidecar in the other protocol.
    else items.push(...(this.settings.isFanOut && Array.isArray(value) ? value : [value]).map(take));
    if (items.length === 0) return null;
    return envelope === undefined ? items : { frames: items };
  }
}

function routeHeader(context: HandlerContext, isHttp: boolean): Readonly<Record<string, string>> {
  if (context.envelope !== undefined || context.routeNext === undefined) return {};
  const names = namesFrom(context.routeNext);
  if (!isHttp) {
    throw new Error(
      'the handler set routeNext, which the socket carries in the envelope protocol only; ' +
        'set ASYA_RUNTIME_PROTOCOL=envelope, or an http URL as ASYA_RUNTIME_URL',
    );
  }
  if (!names.every((name) => /^[!-+\--~]+$/.test(name)))
    throw new Error(
      `the handler set routeNext to ${JSON.stringify(names)}; it must be an array of actors' names`,
    );
  return { 'x-asya-route-next': names.join(',') };
}

// --- connections ---

/** Frames of a 4-byte big-endian length and JSON, one call at a time. */
async function serveSocket(host: Host, socket: Socket): Promise<void> {
  socket.on('error', () => {}); // whoever asked is gone; what it asked for goes on
  try {
    for await (const body of framesFrom(socket, host.settings.maxRequest)) {
      if (!host.begin()) break;
      try {
        const { body: text } = await host.answer(body, undefined);
        const frame = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
        frame.writeUInt32BE(frame.length - 4);
        frame.write(text, 4);
        await new Promise<void>((done) => socket.write(frame, () => done()));
      } finally {
        host.finish();
      }
    }
    socket.end();
  } catch (error) {
    if (IS_DEBUG) log(`a connection was lost: ${lookAt(error, 'message')}`);
  }
}

async function* framesFrom(socket: Socket, limit: number): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let size = 0;
  let bodySize: number | undefined;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    for (let wanted = bodySize ?? 4; size >= wanted; wanted = bodySize ?? 4) {
      const all = Buffer.concat(chunks);
      const part = all.subarray(0, wanted);
      chunks = [all.subarray(wanted)];
      size -= wanted;
      if (bodySize !== undefined) {
        bodySize = undefined;
        yield part;
        continue;
      }
      bodySize = part.readUInt32BE();
      if (bodySize <= limit) continue;
      log(`closed a connection: a frame of ${bodySize} bytes came, ASYA_RUNTIME_MAX_REQUEST is ${limit}`);
      return;
    }
  }
  if (size > 0 || bodySize !== undefined) log('a connection ended in the middle of a frame');
}

async function serveHttp(host: Host, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { path: invokePath, maxRequest } = host.settings;
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const method = new Map([
    ['/healthz', 'GET'],
    [invokePath, 'POST'],
  ]).get(path);
  const refuse = (status: number, code: string, text: string): void =>
    send(response, { status, body: JSON.stringify(errorObjectFrom(new BadRequest(text), code)) });
  const refuseAndClose = (status: number, code: string, text: string): void => {
    response.setHeader('connection', 'close');
    refuse(status, code, text);
  };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxRequest) break;
    }
  } catch {
    return; // whoever asked is gone
  }
  if (size > maxRequest)
    return refuseAndClose(
      413,
      'too_large',
      `a body of more bytes than ASYA_RUNTIME_MAX_REQUEST allows came (${maxRequest})`,
    );
  if (method === undefined)
    return refuse(404, 'not_found', `nothing is at ${path}; the handler is at ${invokePath}`);
  if (request.method !== method) {
    response.setHeader('allow', method);
    return refuse(405, 'method_not_allowed', `${path} takes ${method}, not ${request.method}`);
  }
  if (method === 'GET') return send(response, { status: 200, body: '{"status":"ready"}' });
  if (!host.begin()) return refuseAndClose(503, 'stopping', 'the runtime is stopping; ask its successor');
  const reply = await host.answer(Buffer.concat(chunks), request.headers);
  if (response.destroyed) return host.finish(); // whoever asked is gone
  response.once('close', () => host.finish());
  send(response, reply);
}

function send(response: ServerResponse, { status, body, headers }: Reply): void {
  const text =
    status === 204 ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  response.writeHead(status, { ...headers, ...text });
  response.end(status === 204 ? undefined : body);
}

async function listen(host: Host): Promise<Server> {
  const { address, isHttp, url } = host.settings;
  if ('path' in address) await makeRoom(address.path);
  const server = isHttp
    ? createHttpServer((request, response) => void serveHttp(host, request, response))
    : createSocketServer({ allowHalfOpen: true }, (socket) => void serveSocket(host, socket));
  // The sidecar keeps its connections: one closed here at the wrong moment would be a lost call there.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0;
  await new Promise<void>((done, fail) => {
    server.once('error', (error) =>
      fail(new Refusal(`cannot listen at ${url}: ${error.message}; set ASYA_RUNTIME_URL to a free place`)),
    );
    server.listen(address, done);
  });
  return server;
}

/** A socket file outlives its process. Where nobody answers it is in the way, where somebody does it is not ours. */
async function makeRoom(path: string): Promise<void> {
  const elsewhere = 'set ASYA_SOCKET_PATH to another path';
  try {
    mkdirSync(dirname(path), { recursive: true });
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined) return;
    if (!there.isSocket()) throw new Refusal(`${path} is there and is no socket; remove it, or ${elsewhere}`);
    if (await isAnswered(path))
      throw new Refusal(`another runtime answers at ${path}; stop it, or ${elsewhere}`);
    unlinkSync(path);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`cannot listen at ${path}: ${lookAt(error, 'message')}; ${elsewhere}`, {
      cause: error,
    });
  }
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((tell, fail) => {
    const probe = connect(path);
    const settle = (how: () => void): void => {
      probe.destroy();
      how();
    };
    probe.setTimeout(1_000, () => settle(() => tell(true)));
    probe.once('connect', () => settle(() => tell(true)));
    probe.once('error', (error: NodeJS.ErrnoException) =>
      settle(() => (error.code === 'ECONNREFUSED' || error.code === 'ENOENT' ? tell(false) : fail(error))),
    );
  });
}

// --- the process ---

/**
 * The sidecar holds the other end of stdin: its end is ours, also where it was killed. A thread of its own watches,
 * because the main one cannot while a handler spins; it waits in an event loop and not in a blocking read, because
 * that would keep `process.exit` from ending the thread.
 */
const WATCH = `
const stdin = new (require('node:net').Socket)({ fd: 0 });
stdin.on('error', () => {});
stdin.on('close', () => process.kill(process.pid, 'SIGKILL'));
stdin.resume();
`;

function watchParent(): void {
  const stdin = fstatSync(0);
  if (!stdin.isFIFO() && !stdin.isSocket())
    throw new Refusal(
      'ASYA_PARENT_PIPE=1 says that stdin is a pipe, and it is none; unset it, or give a pipe',
    );
  new Worker(WATCH, { eval: true }).unref();
}

/** What nobody awaits leaves the process in no known state; the sidecar starts another one. */
function exitOnStray(kind: string, error: unknown): never {
  log(`${kind} in the handler's code; exiting with status 1: ${tracebackOf(error)}`);
  process.exit(1);
}

async function stop(server: Server, host: Host): Promise<never> {
  server.close(); // takes the socket file with it
  await host.close();
  if (host.inFlight > 0) log(`${host.inFlight} calls still ran after ${GRACE_MS / 1000} s and are cut off`);
  process.exit(0);
}

async function main(): Promise<void> {
  const name = process.argv[2] ?? process.env['ASYA_HANDLER'] ?? '';
  process.on('uncaughtException', (error) => exitOnStray('an uncaught exception', error));
  process.on('unhandledRejection', (error) => exitOnStray('an unhandled rejection', error));
  try {
    const settings = settingsFrom(process.env, process.argv.slice(2));
    if (process.env['ASYA_PARENT_PIPE'] === '1') watchParent();
    const host = new Host(await loadHandler(name), settings);
    const server = await listen(host);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(server, host));
    const address = server.address();
    const bound = typeof address === 'object' && address !== null ? ` (port ${address.port})` : '';
    log(`${name} is ready at ${settings.url}${bound}`);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    log(`cannot host "${name}": ${error.message}`);
    if (IS_DEBUG) process.stderr.write(`${error.stack}\n${tracebackOf(error.cause)}\n`);
    else if (error.frames !== '') process.stderr.write(`${error.frames}\n`);
    process.exit(1);
  }
}

if (import.meta.main) await main();
