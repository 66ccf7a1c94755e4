import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { systemClock } from '../../adapters/system/system.ts';
import { handleTimer } from '../../app/gateway/timer.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { backendFromConfig, gatewayConfigFrom } from '../from-config/gateway-from-config.ts';
import { transportOnLambda } from '../from-config/transport-on-lambda.ts';

/** Handles the gateway's timers on Lambda, each independently. SQS redelivers a timer that cannot be handled now. */
export function lambdaTimerHandler(env: Environment): (event: SQSEvent) => Promise<SQSBatchResponse> {
  const { config, log } = gatewayConfigFrom(env);
  const starting = backendFromConfig(config, env, log, transportOnLambda, () => []);
  return async ({ Records }) => {
    const { gateway, arm } = await starting;
    const deps = { gateway, arm, clock: systemClock, telemetry: log };
    const failures = await Promise.all(
      Records.map(async ({ body, messageId }) =>
        (await handleTimer(body, deps)) ? [] : [{ itemIdentifier: messageId }],
      ),
    );
    return { batchItemFailures: failures.flat() };
  };
}
