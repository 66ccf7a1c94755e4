/** What ended a host, for its log: a bug with its stack, what the system refused in words alone. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A port that is taken, a file that may not be read: where in the code it showed helps nobody.
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}
