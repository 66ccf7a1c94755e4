import type { Clock } from '../../lib/ports/clock.ts';
import type { Refusal, Reply } from '../../lib/ports/reply.ts';
import type { Receipt, Transport } from '../../lib/ports/transport.ts';

/** One operation on a transport: its request and its result. */
export interface Operation {
  readonly what: 'receive' | 'send' | 'ack' | 'nack' | 'extend' | 'ensureQueue';
  readonly queue: string;
  /** The body of the message that is sent or settled. */
  readonly body?: string;
  readonly messageId?: string;
  /** The delay of a send, or the pause of a nack. */
  readonly afterMs?: number;
  /** How many messages a receive may return. */
  readonly most?: number;
  readonly beganAt: number;
  /** Its position among all starts and ends of operations, because many have the same time. */
  readonly beganNth: number;
  /** Both are undefined while the operation is in progress. */
  endedAt?: number;
  endedNth?: number;
  /** Whether it was accepted. Undefined while the operation is in progress. */
  ok?: boolean;
}

type OperationRequest = Omit<Operation, 'beganAt' | 'beganNth' | 'endedAt' | 'endedNth' | 'ok'>;

export interface Script {
  /** Returns the reason to refuse the operation, or undefined to pass it on. */
  readonly refuse?: (request: OperationRequest) => string | Refusal | undefined;
  /** How long the operation takes before that. */
  readonly takesMs?: (request: OperationRequest) => number;
}

export interface ScriptedTransport extends Transport {
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
  operationsOf(what: Operation['what'], queue?: string): readonly Operation[];
}

/** Records the operations on another transport, and delays or refuses them according to the script. */
export function scriptedTransport(inner: Transport, clock: Clock, script: Script = {}): ScriptedTransport {
  const operations: Operation[] = [];
  let events = 0;

  async function act<T extends Reply | Receipt>(
    request: OperationRequest,
    pass: () => Promise<T>,
  ): Promise<T | Refusal> {
    const operation: Operation = { ...request, beganAt: clock.now(), beganNth: ++events };
    operations.push(operation);
    // The operation never ends synchronously, so operations requested at the same time all start before the first ends.
    const takesMs = script.takesMs?.(request) ?? 0;
    await (takesMs > 0 ? clock.sleep(takesMs) : undefined);
    const refusal = script.refuse?.(request);
    const reply = refusal === undefined ? await pass() : refusalOf(refusal);
    operation.endedAt = clock.now();
    operation.endedNth = ++events;
    operation.ok = reply.ok;
    return reply;
  }

  return {
    ...inner,
    operations,
    operationsOf: (what, queue) =>
      operations.filter((one) => one.what === what && (queue === undefined || one.queue === queue)),
    receive: (queue, most, signal) =>
      act({ what: 'receive', queue, most }, () => inner.receive(queue, most, signal)),
    send: (queue, body) => act({ what: 'send', queue, body, afterMs: 0 }, () => inner.send(queue, body)),
    sendWithDelay: (queue, body, delayMs) =>
      act({ what: 'send', queue, body, afterMs: delayMs }, () => inner.sendWithDelay(queue, body, delayMs)),
    ack: (delivery) => act({ what: 'ack', ...nameOf(delivery) }, () => inner.ack(delivery)),
    nack: (delivery, pauseMs) =>
      act({ what: 'nack', ...nameOf(delivery), afterMs: pauseMs }, () => inner.nack(delivery, pauseMs)),
    extend: (delivery) => act({ what: 'extend', ...nameOf(delivery) }, () => inner.extend(delivery)),
    ensureQueue: (queue) => act({ what: 'ensureQueue', queue }, () => inner.ensureQueue(queue)),
  };
}

function nameOf({ queue, messageId, body }: Parameters<Transport['ack']>[0]) {
  return { queue, messageId, body: String(body) };
}

function refusalOf(refusal: string | Refusal): Refusal {
  return typeof refusal === 'string' ? { ok: false, problem: refusal } : refusal;
}
