/** What a command's exit status means, everywhere. */
export const EXIT = {
  fine: 0,
  /** Something outside failed, or there was nothing to do it to. */
  failed: 1,
  /** Called or configured wrongly. */
  mistaken: 2,
  /** A replay stopped by itself: some failed again or had no end in time. */
  failedAgain: 3,
  /** Stopped by Ctrl-C. */
  stopped: 130,
} as const;
