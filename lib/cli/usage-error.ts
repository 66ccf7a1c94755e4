/** A wrong call or configuration: `main` prints the message without a stack trace and returns exit status 2. */
export class UsageError extends Error {}
