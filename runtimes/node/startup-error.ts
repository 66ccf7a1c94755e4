/** Why the runtime cannot start, in one sentence. `userStack` is set if the user's own code threw. */
export class StartupError extends Error {
  readonly userStack: string;

  constructor(sentence: string, details?: { readonly userStack?: string; readonly cause?: unknown }) {
    super(sentence, { cause: details?.cause });
    this.userStack = details?.userStack ?? '';
  }
}
