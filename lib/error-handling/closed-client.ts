import { textOf } from './guarded-read.ts';

/** The name under which a policy knows a client that was closed before the call. */
export const CLIENT_CLOSED = 'ClientClosedError';

/** What Google's clients and gRPC throw once they are closed. None of them has a class or a code of its own for it. */
const MESSAGES = [
  // @google-cloud/pubsub
  /^Cannot use a closed PubSub object\.$/,
  /: Subscriber closed$/,
  // The generated clients (google-gax); Firestore says "terminated".
  /^The client has already been (closed|terminated)\.?$/,
  // @grpc/grpc-js
  /^Channel has been shut down$/,
  /^The channel has been closed$/,
  /^(14 UNAVAILABLE: )?Channel closed before call started$/,
];

export function isClosedClient(thrown: unknown): boolean {
  const message = typeof thrown === 'string' ? thrown : (textOf(thrown, 'message') ?? '');
  return MESSAGES.some((pattern) => pattern.test(message));
}
