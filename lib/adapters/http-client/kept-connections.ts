import type { Agent, AgentOptions, ClientRequest, ClientRequestArgs, IncomingMessage } from 'node:http';
import type { AgentOptions as SecureAgentOptions } from 'node:https';
import { isIP, type Socket } from 'node:net';

/** `node:http` or `node:https`. */
interface HttpModule {
  readonly Agent: new (options: AgentOptions) => Agent;
  request(options: ClientRequestArgs, onAnswer: (answer: IncomingMessage) => void): ClientRequest;
}

/** The connections of one protocol. An idle connection does not keep the process alive. */
export interface KeptConnections {
  request(options: ClientRequestArgs, onAnswer: (answer: IncomingMessage) => void): ClientRequest;
  /** Opens a connection that the next request to this host uses. If it fails, that request opens its own. */
  open(url: URL): void;
  /** Whether the request's connection was open before the request, so that the other side may have closed it. */
  isKept(request: ClientRequest): boolean;
  /** Closes the connections that no request uses. */
  closeIdle(): void;
  close(): void;
}

/** With `tls`, certificates that are trusted besides those of the system, for tests. */
export function keptConnections(protocol: string, tls: SecureAgentOptions = {}): KeptConnections {
  // Not an import: an ESM import of node:http loads undici. The AWS SDK's agents ignore proxy variables too.
  const module = (protocol === 'https:'
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http')) as unknown as HttpModule;
  const agent = new module.Agent({ keepAlive: true, ...tls }) as Agent & { readonly options: object };
  const connect = agent.createConnection.bind(agent);
  const early = new Map<string, Socket>();
  const openedEarly = new WeakSet<Socket>();

  agent.createConnection = (options, onCreate) => {
    const key = `${options.host}:${options.port}`;
    const socket = early.get(key);
    if (socket === undefined) return connect(options, onCreate);
    early.delete(key);
    return socket.ref();
  };

  return {
    request: (options, onAnswer) => module.request({ ...options, agent }, onAnswer),
    open: (url) => {
      const { host, port } = placeOf(url);
      const key = `${host}:${port}`;
      if (early.has(key)) return;
      const servername = isIP(host) === 0 ? host : '';
      const socket = connect({ ...agent.options, host, port, servername } as ClientRequestArgs) as Socket;
      early.set(key, socket.unref());
      openedEarly.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        if (early.get(key) === socket) early.delete(key);
      });
    },
    isKept: ({ reusedSocket, socket }) => reusedSocket || (socket !== null && openedEarly.has(socket)),
    closeIdle: () => {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    },
    close: () => {
      for (const socket of early.values()) socket.destroy();
      agent.destroy();
    },
  };
}

/** Where a URL leads to. An IPv6 address is without its brackets. */
export function placeOf({ protocol, hostname, port }: URL): { readonly host: string; readonly port: number } {
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}
