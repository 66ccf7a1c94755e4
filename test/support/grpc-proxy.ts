import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/**
 * A proxy for gRPC calls to Google's emulator that can simulate a network outage. It also ends the calls of clients that
 * have disconnected. The emulator does not notice those, and would keep sending messages to them.
 */
export interface GrpcProxy {
  /** `host:port` */
  readonly endpoint: string;
  /** Closes all connections and rejects new ones until the returned function is called. */
  cut(): () => void;
  close(): Promise<void>;
}

export async function startGrpcProxy(target: string): Promise<GrpcProxy> {
  const upstream = connect(`http://${target}`);
  upstream.on('error', () => {});
  await once(upstream, 'connect');
  const sessions = new Set<ServerHttp2Session>();
  let isCut = false;

  const server = createServer();
  server.on('session', (session) => {
    session.on('error', () => {});
    if (isCut) {
      session.destroy();
      return;
    }
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => passOn(stream, headers, upstream));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  function breakAll(): void {
    for (const session of sessions) session.destroy();
  }

  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      breakAll();
      return () => {
        isCut = false;
      };
    },
    close: async () => {
      breakAll();
      const closed = once(server, 'close');
      server.close();
      upstream.destroy();
      await closed;
    },
  };
}

function passOn(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session): void {
  const call = upstream.request(headers);
  let trailers: IncomingHttpHeaders = {};
  stream.on('error', () => {});
  call.on('error', () => stream.destroy());
  stream.pipe(call);
  // However the client disconnected, the emulator only recognizes a normal end of the call.
  stream.on('close', () => call.end());
  call.on('trailers', (received) => {
    trailers = received;
  });
  call.on('response', (response, flags) => {
    if (stream.destroyed || stream.closed) {
      call.resume();
      return;
    }
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(response, endStream ? { endStream } : { waitForTrailers: true });
    if (endStream) return;
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    call.pipe(stream);
    stream.on('close', () => call.resume());
  });
}
