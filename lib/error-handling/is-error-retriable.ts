import { capTraceback, type Fault } from '../core/envelope/fault.ts';
import { isClientRetryable } from '../core/pipeline/pipeline.ts';
import { defined } from '../core/text/defined.ts';
import { CLIENT_CLOSED, isClosedClient } from './closed-client.ts';
import { messageOf, type Names, namesOf } from './error-text.ts';
import { fieldOf, textOf, withCauses } from './guarded-read.ts';
import { httpStatusOf } from './http-status.ts';

/** What the policy needs to know about an error. */
export interface ClassifiedError {
  readonly fault: Fault;
  /** The handler marked the error `normal: true`: part of normal operation, not escalated when the message expires. */
  readonly isNormal: boolean;
}

/**
 * Classifies whatever a handler threw. Never throws. Type, message and inheritance chain are those of the thrown value.
 * The status is that of the outermost error in the chain of causes that has one, so that a wrapper can override it.
 */
export function classifyError(thrown: unknown): ClassifiedError {
  const chain = withCauses(thrown);
  const names = namesOf(thrown);
  const decisive = chain.map(classifiableIn).find((one) => one !== undefined);
  const httpStatus = decisive?.httpStatus;
  return {
    fault: {
      type: names.type,
      mro: withNamesOf(decisive, names),
      message: chain.map(describeError).join('; caused by '),
      traceback: capTraceback(chain.map(stackOf).join('\nCaused by: ')),
      ...defined({ httpStatus }),
    },
    isNormal: chain.some((error) => fieldOf(error, 'normal') === true),
  };
}

interface Classifiable extends Names {
  readonly httpStatus?: number;
}

/** The status or the name that the policy can match. Undefined if it can match neither. */
function classifiableIn(error: unknown): Classifiable | undefined {
  const names = namesOf(error);
  // Checked before the status: gRPC also reports a closed channel as UNAVAILABLE, which would be retried as an outage.
  if (isClosedClient(error)) return { type: CLIENT_CLOSED, mro: names.mro };
  const httpStatus = httpStatusOf(error);
  if (httpStatus !== undefined) return { ...names, httpStatus };
  return isClientRetryable(names) ? names : undefined;
}

/** Adds the name of a cause that decides, so that rules can match it. */
function withNamesOf(decisive: Classifiable | undefined, names: Names): readonly string[] {
  if (decisive === undefined || decisive.httpStatus !== undefined || isClientRetryable(names))
    return names.mro;
  return [decisive.type, ...names.mro];
}

function describeError(error: unknown, depth: number): string {
  const { type } = namesOf(error);
  const message = messageOf(error);
  if (depth === 0) return message || type;
  return message === '' ? type : `${type}: ${message}`;
}

function stackOf(error: unknown): string {
  return textOf(error, 'stack') ?? describeError(error, 1);
}
