import { credentials, type SocketOptions } from 'amqplib';
import { messageOf } from './refusal.ts';

/** A broker's URL, as the library wants it and as people may see it. */
export interface BrokerAddress {
  readonly url: string;
  readonly credentials: Pick<SocketOptions, 'credentials'>;
  /** Why there is no connection, with what to look at, and without the password. */
  problemWith(error: unknown): Error;
}

/** A silent broker is given up after two to three of these: RabbitMQ's own advice is 5 to 20. */
const HEARTBEAT_SECONDS = 10;

export function brokerAddress(url: string): BrokerAddress {
  const { protocol, host, pathname, username, password } = new URL(url);
  const user = decoded(username) || 'guest';
  const virtualHost = decoded(pathname.slice(1)) || '/';
  return {
    url: withHeartbeat(url),
    // The library takes what is percent-encoded for Latin-1, and RabbitMQ's names and passwords are UTF-8.
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

/** Of a virtual host the library says only that the connection was closed. */
function refusalIn(words: string, user: string, virtualHost: string): string | undefined {
  if (words.startsWith('Expected ConnectionOpenOk; got <ConnectionClose'))
    return (
      `it refuses the virtual host "${virtualHost}", the path of ASYA_RABBITMQ_URL: there is none of that name, or ` +
      `the user "${user}" has no permissions in it`
    );
  if (words.includes('ACCESS_REFUSED'))
    return `it refuses the user "${user}" or the password in ASYA_RABBITMQ_URL (ACCESS_REFUSED)`;
  return undefined;
}

/** What the address asks for itself goes first. */
function withHeartbeat(url: string): string {
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat'))
    address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  return address.href;
}

/** A "%" that encodes nothing stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
