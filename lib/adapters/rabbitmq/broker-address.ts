import { credentials, type SocketOptions } from 'amqplib';
import { messageOf } from './refusal.ts';

/** The broker's URL, in the form that the library needs. */
export interface BrokerAddress {
  readonly url: string;
  readonly credentials: Pick<SocketOptions, 'credentials'>;
  /** An error that says why the connection failed and which setting to check. Never contains the password. */
  problemWith(error: unknown): Error;
}

/** A connection is closed after two to three intervals of silence. RabbitMQ recommends 5 to 20 seconds. */
const HEARTBEAT_SECONDS = 10;

export function brokerAddress(url: string): BrokerAddress {
  const { protocol, host, pathname, username, password } = new URL(url);
  const user = decoded(username) || 'guest';
  const virtualHost = decoded(pathname.slice(1)) || '/';
  return {
    url: withHeartbeat(url),
    // The library decodes percent-encoding as Latin-1; RabbitMQ's names and passwords are UTF-8.
    credentials:
      username === '' && password === ''
        ? {}
        : { credentials: credentials.plain(decoded(username), decoded(password)) },
    problemWith: (error) => {
      const words = messageOf(error).trim();
      return new Error(
        `no connection to the broker at ${protocol}//${host}: ${refusalIn(words, user, virtualHost) ?? words}`,
      );
    },
  };
}

/** If the virtual host is wrong, the library reports only that the connection was closed. */
function refusalIn(words: string, user: string, virtualHost: string): string | undefined {
  if (words.startsWith('Expected ConnectionOpenOk; got <ConnectionClose'))
    return (
      `it refused the virtual host "${virtualHost}" (the path of ASYA_RABBITMQ_URL): the virtual host does not exist, ` +
      `or the user "${user}" has no permissions in it`
    );
  if (words.includes('ACCESS_REFUSED'))
    return `it refused the user "${user}" or the password in ASYA_RABBITMQ_URL (ACCESS_REFUSED)`;
  return undefined;
}

/** A heartbeat in the URL takes precedence. */
function withHeartbeat(url: string): string {
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat'))
    address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return address.href;
}

/** Text with an invalid percent-encoding stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
