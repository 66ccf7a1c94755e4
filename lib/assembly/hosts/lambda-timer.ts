import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { systemClock } from '../../adapters/system/system.ts';
import { handleTimer } from '../../app/gateway/timer.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { backendFromConfig, gatewayConfigFrom } from '../from-config/gateway-from-config.ts';
import { transportOnLambda } from '../from-config/sqs-from-config.ts';

/** The gateway's timers on Lambda: each by itself, and what cannot be done now comes again. */
export function lambdaTimerHandler(env: Environment): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const { config, log } = gatewayConfigFrom(env);
  const starting = backendFromConfig(config, env, log, transportOnLambda, () => []);
  return async ({ Records }) => {
    const { gateway, arm } = await starting;
    const parts = { gateway, arm, clock: systemClock, telemetry: log };
    const undone = await Promise.all(
      Records.map(async ({ body, messageId }) =>
        (await handleTimer(body, parts)) ? [] : [{ itemIdentifier: messageId }],
      ),
    );
    return { batchItemFailures: undone.flat() };
  };
}
