import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** Stands between a client and an SQS engine, writes down what passes, and misbehaves when told to. */
export interface FaultyProxy {
  readonly endpoint: string;
  /** What came so far, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** How many TCP connections were opened so far. */
  readonly connections: number;
  /** How many of them are open now. */
  readonly openConnections: number;
  requestsOf(action: string): readonly ProxiedRequest[];
  /** From now on, until the returned function is called. The first fault with something to say counts. */
  inject(fault: Fault): () => void;
  close(): Promise<void>;
}

export interface ProxiedRequest {
  /** The AWS action, like `SendMessageBatch`. */
  readonly action: string;
  readonly input: SqsInput;
  /** The number of the connection it came on, from 1. */
  readonly connection: number;
}

/** As much of the requests' bodies as the tests look at. */
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

export type Fault = (request: ProxiedRequest) => Misdeed | undefined;

export type Misdeed =
  /** Passed on, but so much later. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Half open: the engine never hears of it, and nobody is told. */
  | { readonly kind: 'silence' }
  /** The connection breaks, and the engine never hears of it. */
  | { readonly kind: 'drop' }
  /** The engine does it, and the connection breaks before the answer. */
  | { readonly kind: 'drop-answer' }
  /** Answered here, as a service in trouble does. */
  | { readonly kind: 'refuse'; readonly status: number; readonly code: string }
  /** Answered here with success and these words, and the engine never hears of it. */
  | { readonly kind: 'pretend'; readonly output: Readonly<Record<string, unknown>> }
  /** These entries are kept from the engine and answered as failed; the others are passed on. */
  | { readonly kind: 'fail-entries'; readonly isChosen: (entry: SqsEntry) => boolean };

export const OVERLOADED: Misdeed = { kind: 'refuse', status: 500, code: 'InternalFailure' };
export const THROTTLED: Misdeed = { kind: 'refuse', status: 400, code: 'RequestThrottled' };

/** The fault for one action, for so many requests of it; for good where no number is given. */
export function onAction(action: string, misdeed: Misdeed, times = Number.POSITIVE_INFINITY): Fault {
  let left = times;
  return (one) => (one.action === action && left-- > 0 ? misdeed : undefined);
}

export async function startFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  const requests: ProxiedRequest[] = [];
  const faults = new Set<Fault>();
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
    const one: ProxiedRequest = {
      action: String(incoming.headers['x-amz-target'] ?? '').replace(/^AmazonSQS\./, ''),
      input: JSON.parse(body === '' ? '{}' : body) as SqsInput,
      connection: connections.get(incoming.socket) ?? 0,
    };
    requests.push(one);
    const misdeed = [...faults].map((fault) => fault(one)).find((found) => found !== undefined);
    switch (misdeed?.kind) {
      case undefined:
        return give(response, await passOn(incoming, body, response));
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, misdeed.milliseconds));
        return give(response, await passOn(incoming, body, response));
      case 'silence':
        return;
      case 'drop':
        incoming.socket.destroy();
        return;
      case 'drop-answer':
        await passOn(incoming, body, response);
        incoming.socket.destroy();
        return;
      case 'refuse':
        return give(response, refusal(misdeed.status, misdeed.code));
      case 'pretend':
        return give(response, jsonAnswer(200, misdeed.output));
      case 'fail-entries':
        return give(response, await failEntries(one, misdeed.isChosen, incoming, response));
    }
  }

  async function failEntries(
    one: ProxiedRequest,
    isChosen: (entry: SqsEntry) => boolean,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): Promise<Answer> {
    const { Entries = [] } = one.input;
    const Failed = Entries.filter(isChosen).map(({ Id }) => ({
      Id,
      Code: 'InternalError',
      Message: 'one entry failed, as the test wished',
      SenderFault: false,
    }));
    const kept = Entries.filter((entry) => !isChosen(entry));
    // An engine refuses a batch without entries.
    if (kept.length === 0) return jsonAnswer(200, { Successful: [], Failed });
    const passed = await passOn(incoming, JSON.stringify({ ...one.input, Entries: kept }), response);
    return jsonAnswer(passed.status, { ...JSON.parse(passed.text), Failed });
  }

  /** A client that goes away takes its request to the engine with it. */
  function passOn(incoming: IncomingMessage, body: string, response: ServerResponse): Promise<Answer> {
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
    requestsOf: (action) => requests.filter((one) => one.action === action),
    inject: (fault) => {
      faults.add(fault);
      return () => faults.delete(fault);
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

function give(response: ServerResponse, { status, text, headers }: Answer): void {
  const { connection: _connection, 'transfer-encoding': _encoding, ...kept } = headers;
  response.writeHead(status, { ...kept, 'content-length': Buffer.byteLength(text) }).end(text);
}

function jsonAnswer(status: number, body: unknown): Answer {
  return { status, text: JSON.stringify(body), headers: { 'content-type': 'application/x-amz-json-1.0' } };
}

function refusal(status: number, code: string): Answer {
  return jsonAnswer(status, { __type: `com.amazonaws.sqs#${code}`, message: 'as the test wished' });
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
