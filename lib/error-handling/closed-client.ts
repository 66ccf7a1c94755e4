import { textOf } from './guarded-read.ts';

/** The error type that policies use for a call on a closed client. */
export const CLIENT_CLOSED = 'ClientClosedError';

/** What Google's clients and gRPC throw once they are closed. Only the message identifies these errors. */
const MESSAGES = [
  // @google-cloud/pubsub
  /^Cannot use a closed PubSub object\.$/,
  /: Subscriber closed$/,
  // The generated clients (google-gax). Firestore uses "terminated".
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
