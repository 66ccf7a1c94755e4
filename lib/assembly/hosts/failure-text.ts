/** The error that ended a host, for its log: a system error as its message, a bug with its stack trace. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // For a port in use or an unreadable file, the stack trace does not help the operator.
  return 'syscall' in error ? error.message : (error.stack ?? error.message);
}
