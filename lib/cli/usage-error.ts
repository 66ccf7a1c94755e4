/** Words for whoever asked wrongly: no stack trace, exit status 2. */
export class UsageError extends Error {}
