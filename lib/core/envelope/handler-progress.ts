import type { JsonText } from '../text/json-text.ts';

/** What a handler reported about its call while it runs. Every field is optional; an update with none has no effect. */
export interface HandlerProgress {
  /** From 0 to 100. */
  readonly percent?: number;
  /** One line for a person. */
  readonly message?: string;
  /** Any JSON, for programs that follow the task. */
  readonly data?: JsonText;
}
