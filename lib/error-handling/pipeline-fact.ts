import type { Fault } from '../core/envelope/fault.ts';
import { defined } from '../core/text/defined.ts';
import { headWithinUtf8 } from '../core/text/utf8.ts';
import type { Failed } from './failed.ts';

/** One thing to count and to log, reported after publishing succeeded or failed. Never contains the data. */
export type PipelineFact =
  | { readonly fact: 'success'; readonly messageId: string }
  | (Failure & { readonly fact: 'retried'; readonly delaySeconds: number })
  | (Failure & { readonly fact: 'escalated'; readonly reason: 'escalated' | 'expired' })
  | (Failure & { readonly fact: 'dropped'; readonly reason: 'permanent' | 'expired' })
  /** Publishing failed. The message is not acknowledged, so the broker delivers it again. */
  | (Failure & { readonly fact: 'refused'; readonly problem: string });

interface Failure {
  readonly messageId: string;
  /** Number of retries before this failure. */
  readonly retryCount: number;
  readonly ageMs: number;
  readonly errorType: string;
  readonly errorMessage: string;
  readonly httpStatus?: number;
}

export function factsOf(failed: Failed, messageId: string): readonly PipelineFact[] {
  const failure: Failure = {
    messageId,
    retryCount: failed.retryCount,
    ageMs: failed.ageMs,
    ...errorFields(failed.fault),
  };
  if (failed.settle === 'nack') return [{ fact: 'refused', ...failure, problem: failed.problem ?? '' }];
  switch (failed.action) {
    case 'retry':
      return [{ fact: 'retried', ...failure, delaySeconds: failed.delaySeconds }];
    case 'escalate':
      return [{ fact: 'escalated', ...failure, reason: 'escalated' }];
    case 'drop': {
      const dropped = {
        fact: 'dropped',
        ...failure,
        reason: failed.expired ? 'expired' : 'permanent',
      } as const;
      return failed.escalate ? [{ fact: 'escalated', ...failure, reason: 'expired' }, dropped] : [dropped];
    }
  }
}

const MAX_MESSAGE_BYTES = 1024;

function errorFields({ type, message, httpStatus }: Fault) {
  return {
    errorType: type,
    errorMessage: headWithinUtf8(message, MAX_MESSAGE_BYTES),
    ...defined({ httpStatus }),
  };
}
