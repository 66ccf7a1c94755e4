import { resolve } from 'node:path';
import { StartupError } from './startup-error.ts';

export interface Settings extends Endpoint {
  /** The handler's name as the user wrote it, such as `./score.ts.score`. */
  readonly handler: string;
  /** Where the runtime listens, unless it has a channel. */
  readonly url: string;
  /** How calls arrive over descriptors that the process inherited (`ASYA_RUNTIME_FD`). Undefined: the runtime listens. */
  readonly channel: Channel | undefined;
  /** Whether a request is the whole envelope (`ASYA_RUNTIME_PROTOCOL=envelope`) or its payload only. */
  readonly isEnvelope: boolean;
  /** Whether an array is one result per item. Default: true, unless `ASYA_FANOUT=never`. */
  readonly isFanOut: boolean;
  /** The largest request body, in bytes. Default: 16 MiB. */
  readonly maxRequestBytes: number;
}

/** Where the runtime listens, and in which protocol. */
interface Endpoint {
  readonly kind: 'socket' | 'asya' | 'http';
  readonly address: { readonly path: string } | { readonly host: string; readonly port: number };
  /** The HTTP path of the handler; empty for the socket protocols. */
  readonly path: string;
}

export interface Channel {
  /** Calls arrive on this descriptor (`ASYA_RUNTIME_FD`). */
  readonly callsFd: number;
  /** Answers leave on this one (`ASYA_RUNTIME_ANSWER_FD`). */
  readonly answersFd: number;
  /** How many calls run at the same time (`ASYA_CONCURRENCY`). */
  readonly concurrency: number;
}

const DEFAULT_MAX_REQUEST = String(16 * 1024 * 1024);

/** Reads the command line and the environment. Throws a StartupError at the first invalid value. */
export function settingsFrom(env: NodeJS.ProcessEnv, args: readonly string[]): Settings {
  const handler = args[0] ?? env['ASYA_HANDLER'] ?? '';
  const example = 'for example ./score.ts.score';
  if (args.length > 1)
    throw new StartupError(
      `expected one argument, the handler's name (${example}), but received ${args.length}`,
    );
  if (handler === '')
    throw new StartupError(`no handler name: pass it as the argument (${example}), or set ASYA_HANDLER`);
  const protocol = env['ASYA_RUNTIME_PROTOCOL'] || 'payload';
  if (protocol !== 'payload' && protocol !== 'envelope')
    throw new StartupError(`ASYA_RUNTIME_PROTOCOL is "${protocol}"; expected "payload" or "envelope"`);
  const limit = env['ASYA_RUNTIME_MAX_REQUEST'] || DEFAULT_MAX_REQUEST;
  if (!/^[1-9][0-9]{0,14}$/.test(limit))
    throw new StartupError(
      `ASYA_RUNTIME_MAX_REQUEST is "${limit}"; expected a whole number of bytes above 0`,
    );
  const url = env['ASYA_RUNTIME_URL'] || `unix:${env['ASYA_SOCKET_PATH'] || '/tmp/sockets/app.sock'}`;
  return {
    handler,
    url,
    ...endpointFromUrl(url),
    channel: channelFrom(env, protocol),
    isEnvelope: protocol === 'envelope',
    isFanOut: env['ASYA_FANOUT'] !== 'never',
    maxRequestBytes: Number(limit),
  };
}

function channelFrom(env: NodeJS.ProcessEnv, protocol: string): Channel | undefined {
  const { ASYA_RUNTIME_FD, ASYA_RUNTIME_ANSWER_FD, ASYA_CONCURRENCY: calls } = env;
  if (!ASYA_RUNTIME_FD) return undefined;
  if (protocol !== 'payload')
    throw new StartupError(
      `ASYA_RUNTIME_PROTOCOL is "${protocol}", but calls over ASYA_RUNTIME_FD have their own protocol; unset one of them`,
    );
  for (const [name, fd = ''] of Object.entries({ ASYA_RUNTIME_FD, ASYA_RUNTIME_ANSWER_FD })) {
    if (!/^[0-9]{1,6}$/.test(fd))
      throw new StartupError(
        `${name} is "${fd}"; expected the number of a descriptor; unset ASYA_RUNTIME_FD to let the runtime listen`,
      );
  }
  const concurrency = calls || '1';
  if (!/^[1-9][0-9]{0,6}$/.test(concurrency))
    throw new StartupError(`ASYA_CONCURRENCY is "${calls}"; expected a whole number above 0`);
  return {
    callsFd: Number(ASYA_RUNTIME_FD),
    answersFd: Number(ASYA_RUNTIME_ANSWER_FD),
    concurrency: Number(concurrency),
  };
}

function endpointFromUrl(url: string): Endpoint {
  const [, scheme, socket] = /^(unix|asya):(.+)$/.exec(url) ?? [];
  if (socket !== undefined)
    return { kind: scheme === 'asya' ? 'asya' : 'socket', address: { path: resolve(socket) }, path: '' };
  const unix = /^http\+unix:([^:]+):?(\/.*)?$/.exec(url);
  if (unix?.[1]) return { kind: 'http', address: { path: resolve(unix[1]) }, path: unix[2] ?? '/' };
  const tcp = /^http:\/\/(\[[0-9a-fA-F:.]+\]|[^[\]/:?#@]+)(?::([0-9]{1,5}))?(\/[^?#]*)?$/.exec(url);
  if (tcp?.[1] && Number(tcp[2] ?? 80) < 65_536) {
    const host = tcp[1].replace(/^\[|\]$/g, '');
    return { kind: 'http', address: { host, port: Number(tcp[2] ?? 80) }, path: tcp[3] ?? '/' };
  }
  throw new StartupError(
    `ASYA_RUNTIME_URL is "${url}"; expected a URL such as asya:/tmp/sockets/app.sock, ` +
      'unix:/tmp/sockets/app.sock, http://127.0.0.1:8080/invoke or http+unix:/tmp/sockets/app.sock:/invoke',
  );
}
