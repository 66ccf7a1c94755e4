import { defined } from '../core/text/defined.ts';
/** Errors for handlers that want to be understood. None is needed: those of the usual clients are understood too. */

/** Retried, dropped or escalated by its status. */
export function httpError(status: number, message: string, cause?: unknown): Error {
  return named('HttpError', message, { status }, cause, httpError);
}

/** The handler's own publishing failed: retried through the whole schedule, whatever the broker's reason was. */
export function topicPublishError(topic: string, cause?: unknown): Error {
  return named('TopicPublishError', `could not publish to ${topic}`, { topic }, cause, topicPublishError);
}

/** The same error, marked as a part of normal operation: once it has expired, nobody is told. */
export function asNormal<Thrown extends object>(error: Thrown): Thrown & { readonly normal: true } {
  return Object.assign(error, { normal: true as const });
}

/** Its stack begins where the handler asked for it. */
function named(
  name: string,
  message: string,
  fields: object,
  cause: unknown,
  asked: (...parts: never[]) => Error,
): Error {
  const error = new Error(message, defined({ cause }));
  Object.assign(error, { name, ...fields });
  Error.captureStackTrace(error, asked);
  return error;
}
