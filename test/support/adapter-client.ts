import { connect } from 'node:net';
import { expect } from 'vitest';

/** A client of the debug adapter protocol, as VS Code is. */
export interface AdapterClient {
  /** Sends a request. `answer` resolves with the body of its response. */
  request(command: string, body?: object): Promise<Record<string, unknown>>;
  /** Resolves with the body of the next event of this kind that has not been returned before. */
  next(event: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface Message {
  readonly type: 'event' | 'response';
  readonly event?: string;
  readonly request_seq?: number;
  readonly success?: boolean;
  readonly message?: string;
  readonly body?: Record<string, unknown>;
}

export function connectAdapter(port: number): AdapterClient {
  const socket = connect(port, '127.0.0.1');
  const answers = new Map<number, (message: Message) => void>();
  const events: Message[] = [];
  let rest = Buffer.alloc(0);
  let lastSeq = 0;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      for (const answer of answers.values())
        answer({ type: 'response', success: false, message: 'the connection was closed' });
      resolve();
    });
  });
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const headEnd = rest.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/Content-Length: (\d+)/.exec(rest.toString('utf8', 0, headEnd))?.[1]);
      const end = headEnd + 4 + length;
      if (rest.length < end) return;
      const message = JSON.parse(rest.toString('utf8', headEnd + 4, end)) as Message;
      rest = rest.subarray(end);
      if (message.type === 'event') events.push(message);
      else answers.get(message.request_seq ?? 0)?.(message);
    }
  });
  return {
    request: (command, body = {}) =>
      new Promise((resolve, reject) => {
        const seq = ++lastSeq;
        answers.set(seq, ({ success, message, body: answer = {} }) => {
          if (success === true) resolve(answer);
          else reject(new Error(`${command}: ${message}`));
        });
        const text = JSON.stringify({ seq, type: 'request', command, arguments: body });
        socket.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
      }),
    next: async (event) => {
      const isWanted = (one: Message) => one.event === event;
      await expect.poll(() => events.some(isWanted)).toBe(true);
      const [message] = events.splice(events.findIndex(isWanted), 1);
      return message?.body ?? {};
    },
    close: async () => {
      socket.destroy();
      await closed;
    },
  };
}
