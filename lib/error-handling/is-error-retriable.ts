import { capTraceback, type Fault } from '../core/envelope/fault.ts';
import { isClientRetryable } from '../core/pipeline/pipeline.ts';
import { defined } from '../core/text/defined.ts';
import { CLIENT_CLOSED, isClosedClient } from './closed-client.ts';
import { messageOf, type Names, namesOf } from './error-text.ts';
import { fieldOf, textOf, withCauses } from './guarded-read.ts';
import { httpStatusOf } from './http-status.ts';

/** What the policy has to know of an error. */
export interface Classified {
  readonly fault: Fault;
  /** The handler marked it `normal: true`: a part of normal operation, not worth escalating. */
  readonly isNormal: boolean;
}

/**
 * Whatever a handler threw, as the policy sees it. Never throws. Type, message and ancestors are those of what was
 * thrown; the status is that of the outermost error that tells one, so that who wraps an error has the last word.
 */
export function classify(thrown: unknown): Classified {
  const chain = withCauses(thrown);
  const names = namesOf(thrown);
  const telling = chain.map(tellingOf).find((one) => one !== undefined);
  const httpStatus = telling?.httpStatus;
  return {
    fault: {
      type: names.type,
      mro: withNamesOf(telling, names),
      message: chain.map(saidBy).join('; caused by '),
      traceback: capTraceback(chain.map(stackOf).join('\nCaused by: ')),
      ...defined({ httpStatus }),
    },
    isNormal: chain.some((error) => fieldOf(error, 'normal') === true),
  };
}

interface Telling extends Names {
  readonly httpStatus?: number;
}

/** By its status or by its name; undefined where the policy could make nothing of it. */
function tellingOf(error: unknown): Telling | undefined {
  const names = namesOf(error);
  // Before the status: gRPC calls a closed channel UNAVAILABLE too, and that service would be waited for in vain.
  if (isClosedClient(error)) return { type: CLIENT_CLOSED, mro: names.mro };
  const httpStatus = httpStatusOf(error);
  if (httpStatus !== undefined) return { ...names, httpStatus };
  return isClientRetryable(names) ? names : undefined;
}

/** A cause that counts by its name has to be found among the names. */
function withNamesOf(telling: Telling | undefined, names: Names): readonly string[] {
  if (telling === undefined || telling.httpStatus !== undefined || isClientRetryable(names)) return names.mro;
  return [telling.type, ...names.mro];
}

function saidBy(error: unknown, depth: number): string {
  const { type } = namesOf(error);
  const message = messageOf(error);
  if (depth === 0) return message || type;
  return message === '' ? type : `${type}: ${message}`;
}

function stackOf(error: unknown): string {
  return textOf(error, 'stack') ?? saidBy(error, 1);
}
