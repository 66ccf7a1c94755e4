/** The message of an error; anything else that was thrown, as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The name and the message of an error of an SDK: `ParameterNotFound: ...`. Some of them have a name only. */
export function namedErrorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name } = error;
  const message = withoutRequest(error.message);
  return message === '' || message === 'UnknownError' ? name : `${name}: ${message}`;
}

/**
 * The first paragraph of an error's message. If AWS refuses a signature, further paragraphs repeat the request, and one of
 * its headers is the session token.
 */
export function withoutRequest(message: string): string {
  return message.split('\n\n', 1)[0] ?? '';
}

/** The message of the error's cause, if there is one: `fetch` says only "fetch failed" and puts the reason there. */
export function causeText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : String(error);
}

/** The stack of an error, for bugs in this project; anything else that was thrown, as text. */
export function stackText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
