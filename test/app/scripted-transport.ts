import type { Clock } from '../../lib/ports/clock.ts';
import type { Refusal, Reply } from '../../lib/ports/reply.ts';
import type { Receipt, Transport } from '../../lib/ports/transport.ts';

/** One operation on a transport, as it was asked for and how it ended. */
export interface Operation {
  readonly what: 'receive' | 'send' | 'ack' | 'nack' | 'extend' | 'ensureQueue';
  readonly queue: string;
  /** Of the message that is sent or settled. */
  readonly body?: string;
  readonly messageId?: string;
  /** The delay of a send, the pause of a nack. */
  readonly afterMs?: number;
  /** How many a receive may bring. */
  readonly most?: number;
  readonly beganAt: number;
  /** Its place among all beginnings and ends, which happen at the same time more often than not. */
  readonly beganNth: number;
  /** Both undefined while it is under way. */
  endedAt?: number;
  endedNth?: number;
  /** Whether it was accepted; undefined while it is under way. */
  ok?: boolean;
}

type Asked = Omit<Operation, 'beganAt' | 'beganNth' | 'endedAt' | 'endedNth' | 'ok'>;

export interface Script {
  /** Why it is refused; undefined where it is passed on. */
  readonly refuse?: (asked: Asked) => string | Refusal | undefined;
  /** How long it takes before that. */
  readonly takesMs?: (asked: Asked) => number;
}

export interface ScriptedTransport extends Transport {
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
  operationsOf(what: Operation['what'], queue?: string): readonly Operation[];
}

/** Another transport, written down, slowed and refused as the script says. */
export function scriptedTransport(inner: Transport, clock: Clock, script: Script = {}): ScriptedTransport {
  const operations: Operation[] = [];
  let events = 0;

  async function act<T extends Reply | Receipt>(asked: Asked, pass: () => Promise<T>): Promise<T | Refusal> {
    const operation: Operation = { ...asked, beganAt: clock.now(), beganNth: ++events };
    operations.push(operation);
    // Never at once: whatever is asked at the same time has begun before the first of it ends.
    const takesMs = script.takesMs?.(asked) ?? 0;
    await (takesMs > 0 ? clock.sleep(takesMs) : undefined);
    const refusal = script.refuse?.(asked);
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
