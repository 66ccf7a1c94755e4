import type { Socket } from 'node:net';
import type { Pair } from './asya-cases.ts';
import { type FramedConnection, frameOf, framesOver } from './clients.ts';
import { killAfterTest, launch, type RuntimeProcess, type Start } from './runtime-process.ts';

/** A pair on its way to a runtime: values, or text that is sent as it is. */
export interface Sent {
  readonly head: object | string;
  /** Default: the pair has an empty body. */
  readonly payload?: unknown;
}

/** A runtime that was started as the sidecar does, and the sidecar's ends of its descriptors. */
export interface OnDescriptor {
  readonly runtime: RuntimeProcess;
  /** Calls leave on it. */
  readonly calls: Socket;
  /** Answers arrive on it. */
  readonly answers: FramedConnection;
  /** Sends all pairs in one write. */
  readonly send: (...pairs: readonly Sent[]) => void;
  /** The next pair. Rejects if the runtime has closed its end. */
  readonly receive: () => Promise<Pair>;
  /** This many pairs. */
  readonly receiveMany: (count: number) => Promise<readonly Pair[]>;
  /** Sends a call and returns its whole answer. No other call may be open. */
  readonly call: (call: Sent) => Promise<readonly Pair[]>;
}

/** `stop`: it ends a generator when it is asked to. */
export const READY: Pair = { head: { kind: 'ready', stop: true }, body: '' };
export const CANCEL: Sent = { head: { kind: 'cancel', reason: 'drain' } };
const LAST_KINDS: readonly unknown[] = ['end', 'error', 'late'];

/** Does not wait until the runtime is ready. `endAll` kills it. */
export function launchOnDescriptor(start: Omit<Start, 'over'>): OnDescriptor {
  const runtime = launch({ ...start, over: 'descriptor' });
  const streams: readonly unknown[] = runtime.child.stdio;
  const calls = streams[4] as Socket;
  // The runtime may end before it has read everything.
  calls.on('error', () => {}).resume();
  const answers = framesOver(streams[5] as Socket);
  const send = (...pairs: readonly Sent[]): void => void calls.write(Buffer.concat(pairs.map(bytesOf)));
  const receive = async (): Promise<Pair> => {
    const [head, body] = [await answers.receive(), await answers.receive()];
    if (head !== undefined && body !== undefined) return { head: JSON.parse(head), body };
    throw new Error(`the runtime closed its end; it printed ${JSON.stringify(runtime.stderr())}`);
  };
  const receiveMany = async (count: number): Promise<readonly Pair[]> => {
    const pairs: Pair[] = [];
    while (pairs.length < count) pairs.push(await receive());
    return pairs;
  };
  const call = async (one: Sent): Promise<readonly Pair[]> => {
    send(one);
    const pairs = [await receive()];
    while (!LAST_KINDS.includes(pairs.at(-1)?.head['kind'])) pairs.push(await receive());
    return pairs;
  };
  return { runtime, calls, answers, send, receive, receiveMany, call };
}

/** Starts a runtime and waits until it is ready. */
export async function startOnDescriptor(start: Omit<Start, 'over'>): Promise<OnDescriptor> {
  const started = launchOnDescriptor(start);
  const first = await started.receive();
  if (JSON.stringify(first) !== JSON.stringify(READY))
    throw new Error(`the first pair is ${JSON.stringify(first)}; expected that the runtime is ready`);
  return started;
}

/** Like `startOnDescriptor`, but kills the runtime at the end of the test. */
export async function startOnDescriptorForTest(start: Omit<Start, 'over'>): Promise<OnDescriptor> {
  const started = await startOnDescriptor(start);
  killAfterTest(started.runtime);
  return started;
}

/** The pairs that arrive until the runtime closes its end. */
export async function receiveUntilClosed({ answers }: OnDescriptor): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (;;) {
    const [head, body] = [await answers.receive(), await answers.receive()];
    if (head === undefined || body === undefined) return pairs;
    pairs.push({ head: JSON.parse(head), body });
  }
}

export function bytesOf({ head, payload }: Sent): Buffer {
  const headText = typeof head === 'string' ? head : JSON.stringify(head);
  return Buffer.concat([headText, payload === undefined ? '' : JSON.stringify(payload)].map(frameOf));
}
