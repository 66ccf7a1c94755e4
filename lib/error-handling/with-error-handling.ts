import type { Failed } from './failed.ts';
import { type ErrorHandlingOptions, handleFailure, reportSafely } from './handle-failure.ts';
import type { PipelineMessage } from './message.ts';

/** What happened to a message. The consumer only has to settle it. */
export type Handled<Result> = Done<Result> | Failed;

/**
 * The consumer's function returned: acknowledge the message.
 *
 * @public
 */
export interface Done<Result> {
  readonly settle: 'ack';
  readonly action: 'done';
  readonly result: Result;
}

/** Wraps a handler with retry, escalation and drop. The returned function never rejects. */
export function withErrorHandling<Message extends PipelineMessage, Result>(
  handler: (message: Message) => Result | Promise<Result>,
  options: ErrorHandlingOptions<Message['data']>,
): (message: Message) => Promise<Handled<Result>> {
  return async (message) => {
    try {
      const result = await handler(message);
      reportSafely(options.onFact, { fact: 'success', messageId: message.id });
      return { settle: 'ack', action: 'done', result };
    } catch (thrown) {
      return handleFailure(thrown, message, options);
    }
  };
}
