import { defined } from '../core/text/defined.ts';

/** Errors that a handler can throw. They are optional: errors of common clients are classified as well. */

/** An error with an HTTP status, which decides between retry, drop and escalate. */
export function httpError(status: number, message: string, cause?: unknown): Error {
  return named('HttpError', message, { status }, cause, httpError);
}

/** The handler could not publish. Retried through the whole schedule, whatever the broker's reason was. */
export function topicPublishError(topic: string, cause?: unknown): Error {
  return named('TopicPublishError', `could not publish to ${topic}`, { topic }, cause, topicPublishError);
}

/** Marks an error as part of normal operation: it is not escalated when its message expires. */
export function asNormal<Thrown extends object>(error: Thrown): Thrown & { readonly normal: true } {
  return Object.assign(error, { normal: true as const });
}

/** The stack starts at the caller of `factory`. */
function named(
  name: string,
  message: string,
  fields: object,
  cause: unknown,
  factory: (...parts: never[]) => Error,
): Error {
  const error = new Error(message, defined({ cause }));
  Object.assign(error, { name, ...fields });
  Error.captureStackTrace(error, factory);
  return error;
}
