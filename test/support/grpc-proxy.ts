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
 * Passes gRPC calls on to Google's emulator, and can be cut. It also says for its clients that they are gone: the
 * emulator never notices, and would go on sending a part of all messages to connections that nobody reads.
 */
export interface GrpcProxy {
  /** `host:port` */
  readonly endpoint: string;
  /** Every connection breaks, and none is made, until the returned function is called. */
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
  // Gone, in whatever way: a plain end of the call is what the emulator understands.
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
