/** The message of an error; anything else that was thrown, as text. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
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
