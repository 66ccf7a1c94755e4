import { expect } from 'vitest';

/** A client of the Chrome DevTools Protocol, as an IDE is. */
export interface InspectorClient {
  /** Resolves with the result of a method. Rejects with the error of the inspector. */
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Resolves with the next event of this kind that has not been returned before. */
  next(event: string): Promise<Record<string, unknown>>;
  readonly isOpen: boolean;
  close(): Promise<void>;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Finds the debugged process at the port, as IDEs do, and attaches to it. */
export async function attachInspector(port: number): Promise<InspectorClient> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await response.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const answers = new Map<number, (message: Message) => void>();
  const events: Message[] = [];
  let lastId = 0;
  let isOpen = true;
  const closed = new Promise<void>((resolve) => {
    socket.onclose = () => {
      isOpen = false;
      for (const answer of answers.values()) answer({ error: { message: 'the connection was closed' } });
      resolve();
    };
  });
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id === undefined) events.push(message);
    else answers.get(message.id)?.(message);
  };
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        if (!isOpen) return reject(new Error(`${method}: the connection is closed`));
        const id = ++lastId;
        answers.set(id, ({ result, error }) => {
          if (error === undefined) resolve(result ?? {});
          else reject(new Error(`${method}: ${error.message}`));
        });
        socket.send(JSON.stringify({ id, method, params }));
      }),
    next: async (event) => {
      const isWanted = ({ method }: Message) => method === event;
      await expect.poll(() => events.some(isWanted)).toBe(true);
      const [message] = events.splice(events.findIndex(isWanted), 1);
      return message?.params ?? {};
    },
    get isOpen() {
      return isOpen;
    },
    close: async () => {
      socket.close();
      await closed;
    },
  };
}
