/** The exit statuses of all commands. */
export const EXIT = {
  ok: 0,
  /** A broker or store failed, an envelope did not succeed, or nothing matched. */
  failed: 1,
  /** A usage error or an invalid configuration. */
  usageError: 2,
  /** A replay stopped because some envelopes failed again or did not end in time. */
  failedAgain: 3,
  /** Stopped with Ctrl-C. */
  interrupted: 130,
} as const;
