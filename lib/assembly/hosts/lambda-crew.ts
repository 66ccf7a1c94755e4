import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { publishWithPowertools } from '../../adapters/emf/powertools-metrics.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { crewFromConfig } from '../from-config/crew-from-config.ts';
import { lambdaHost, type SqsHandler } from './lambda.ts';

/** The Lambda handler of x-sink, x-sump or x-dlq. */
export function crewHandler(env: Environment, name: string): SqsHandler {
  const { handle, publishMetrics } = lambdaHost(env, crewFromConfig(name), publishWithPowertools);
  const metrics = { after: publishMetrics, onError: publishMetrics };
  return middy<SQSEvent, SQSBatchResponse>().use(metrics).handler(handle) as unknown as SqsHandler;
}
