import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** A proxy between a client and an SQS engine that records requests and injects faults. */
export interface FaultyProxy {
  readonly endpoint: string;
  /** The requests so far, in order of arrival. */
  readonly requests: readonly ProxiedRequest[];
  /** The number of TCP connections opened so far. */
  readonly connections: number;
  /** The number of open connections. */
  readonly openConnections: number;
  requestsOf(action: string): readonly ProxiedRequest[];
  /** Injects faults until the returned function is called. If several injectors return a fault, the first one applies. */
  inject(injector: FaultInjector): () => void;
  close(): Promise<void>;
}

export interface ProxiedRequest {
  /** The AWS action, like `SendMessageBatch`. */
  readonly action: string;
  readonly input: SqsInput;
  /** The number of its connection, from 1. */
  readonly connection: number;
}

/** The fields of request bodies that the tests use. */
interface SqsInput {
  readonly QueueUrl?: string;
  readonly QueueName?: string;
  readonly Entries?: readonly SqsEntry[];
}

interface SqsEntry {
  readonly Id: string;
  readonly MessageBody?: string;
  readonly DelaySeconds?: number;
  readonly ReceiptHandle?: string;
  readonly VisibilityTimeout?: number;
}

export type FaultInjector = (request: ProxiedRequest) => Fault | undefined;

export type Fault =
  /** Forwards the request after this time. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** A half-open connection: the request does not reach the engine, and is never answered. */
  | { readonly kind: 'hang' }
  /** Closes the connection. The request does not reach the engine. */
  | { readonly kind: 'drop' }
  /** Forwards the request, and closes the connection instead of answering. */
  | { readonly kind: 'drop-answer' }
  /** Answers with an error of the service. The request does not reach the engine. */
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** Answers with success and this output. The request does not reach the engine. */
  | { readonly kind: 'fake-success'; readonly output: Readonly<Record<string, unknown>> }
  /** Answers these entries as failed, and forwards the others. */
  | { readonly kind: 'fail-entries'; readonly isChosen: (entry: SqsEntry) => boolean };

export const OVERLOADED: Fault = { kind: 'refuse', status: 500, code: 'InternalFailure' };
export const THROTTLED: Fault = { kind: 'refuse', status: 400, code: 'RequestThrottled' };

/** Injects a fault into the first `times` requests of one action. Default: into all of them. */
export function onAction(action: string, fault: Fault, times = Number.POSITIVE_INFINITY): FaultInjector {
  let left = times;
  return (proxied) => (proxied.action === action && left-- > 0 ? fault : undefined);
}

export async function startFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  const requests: ProxiedRequest[] = [];
  const injectors = new Set<FaultInjector>();
  const connections = new Map<Duplex, number>();
  let opened = 0;

  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    answer(incoming, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    connections.set(socket, ++opened);
    socket.on('close', () => connections.delete(socket));
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(incoming);
    const proxied: ProxiedRequest = {
      action: String(incoming.headers['x-amz-target'] ?? '').replace(/^AmazonSQS\./, ''),
      input: JSON.parse(body === '' ? '{}' : body) as SqsInput,
      connection: connections.get(incoming.socket) ?? 0,
    };
    requests.push(proxied);
    const fault = [...injectors].map((injector) => injector(proxied)).find((found) => found !== undefined);
    switch (fault?.kind) {
      case undefined:
        return respond(response, await forward(incoming, body, response));
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, fault.milliseconds));
        return respond(response, await forward(incoming, body, response));
      case 'hang':
        return;
      case 'drop':
        incoming.socket.destroy();
        return;
      case 'drop-answer':
        await forward(incoming, body, response);
        incoming.socket.destroy();
        return;
      case 'refuse':
        return respond(response, refusal(fault.status, fault.code));
      case 'fake-success':
        return respond(response, jsonAnswer(200, fault.output));
      case 'fail-entries':
        return respond(response, await failEntries(proxied, fault.isChosen, incoming, response));
    }
  }

  async function failEntries(
    proxied: ProxiedRequest,
    isChosen: (entry: SqsEntry) => boolean,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> {
    const { Entries = [] } = proxied.input;
    const Failed = Entries.filter(isChosen).map(({ Id }) => ({
      Id,
      Code: 'InternalError',
      Message: 'injected failure of one entry',
      SenderFault: false,
    }));
    const kept = Entries.filter((entry) => !isChosen(entry));
    // An engine refuses a batch without entries.
    if (kept.length === 0) return jsonAnswer(200, { Successful: [], Failed });
    const passed = await forward(incoming, JSON.stringify({ ...proxied.input, Entries: kept }), response);
    return jsonAnswer(passed.status, { ...JSON.parse(passed.text), Failed });
  }

  /** Forwards a request to the engine. Aborts it when the client disconnects. */
  function forward(incoming: IncomingMessage, body: string, response: ServerResponse): Promise<Answer> {
    const bytes = Buffer.from(body);
    const headers = { ...incoming.headers, host: `${hostname}:${port}`, 'content-length': bytes.length };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { hostname, port, method: incoming.method, path: incoming.url, headers, agent },
        (answered) => {
          textOf(answered).then(
            (text) => resolve({ status: answered.statusCode ?? 500, text, headers: answered.headers }),
            reject,
          );
        },
      );
      outgoing.on('error', reject);
      response.on('close', () => {
        if (!response.writableFinished) outgoing.destroy();
      });
      outgoing.end(bytes);
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    get connections() {
      return opened;
    },
    get openConnections() {
      return connections.size;
    },
    requestsOf: (action) => requests.filter((proxied) => proxied.action === action),
    inject: (injector) => {
      injectors.add(injector);
      return () => injectors.delete(injector);
    },
    close: async () => {
      for (const socket of connections.keys()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      agent.destroy();
    },
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

function respond(response: ServerResponse, { status, text, headers }: Answer): void {
  const { connection: _connection, 'transfer-encoding': _encoding, ...kept } = headers;
  response.writeHead(status, { ...kept, 'content-length': Buffer.byteLength(text) }).end(text);
}

function jsonAnswer(status: number, body: unknown): Answer {
  return { status, text: JSON.stringify(body), headers: { 'content-type': 'application/x-amz-json-1.0' } };
}

function refusal(status: number, code: string): Answer {
  return jsonAnswer(status, { __type: `com.amazonaws.sqs#${code}`, message: 'injected fault' });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
