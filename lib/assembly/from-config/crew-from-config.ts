import { dynamoDbCancellations } from '../../adapters/dynamodb/dynamodb-cancellations.ts';
import { dynamoDbClient } from '../../adapters/dynamodb/dynamodb-client.ts';
import { dynamoDbEndRecords } from '../../adapters/dynamodb/dynamodb-end-records.ts';
import { dynamoDbFailureIndex } from '../../adapters/dynamodb/dynamodb-failure-index.ts';
import { dynamoDbRunIndex } from '../../adapters/dynamodb/dynamodb-run-index.ts';
import { dynamoDbTaskStore } from '../../adapters/dynamodb/dynamodb-task-store.ts';
import { gatewayReports } from '../../adapters/gateway-http/gateway-reports.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { s3Archive } from '../../adapters/s3/s3-archive.ts';
import { deriveId, systemClock, systemRandom } from '../../adapters/system/system.ts';
import { archiveWithBatches } from '../../app/crew/archive-with-batches.ts';
import { type CrewDeps, crewRuntime } from '../../app/crew/crew.ts';
import { ConfigurationError } from '../../config/settings/configuration-error.ts';
import type { CrewConfig, Storage } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { defined } from '../../core/text/defined.ts';
import type { Cancellations } from '../../ports/cancellations.ts';
import type { RunIndex } from '../../ports/run-index.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import type { Details } from '../../ports/telemetry.ts';
import { reportsPost } from './reports-post.ts';
import type { MakeRuntime } from './runtime-from-config.ts';

/** Creates the crew member of this name. Throws if the configuration is for another actor. */
export function crewFromConfig(name: string): MakeRuntime {
  return async (config, env, log) => {
    const { actor } = config;
    if (actor.name !== name)
      throw new ConfigurationError(
        `asya: ASYA_ACTOR_NAME is "${actor.name}", but this is ${name}; set it to ${name}`,
      );
    // First: without storage `actor.crew` is undefined too, and this error names what is missing.
    const deps = crewDepsFromConfig(config, env, log);
    if (actor.crew === undefined) {
      throw new ConfigurationError(
        `asya: this is ${name}, which has no runtime; unset ASYA_RUNTIME_COMMAND and ASYA_RUNTIME_URL`,
      );
    }
    return crewRuntime(actor.crew, deps);
  };
}

function crewDepsFromConfig(config: CrewConfig, env: Environment, log: JsonLog): CrewDeps {
  const stores = storesFromConfig(config.storage, config.sqs.region, env);
  return {
    ...stores,
    reports: gatewayReports(reportsPost(config)),
    clock: systemClock,
    deriveId,
    ...defined({ archives: config.archives }),
    telemetry: log,
    onFailure: (failure, isNew) => log.line('error', 'failure', failureDetails(failure, isNew)),
  };
}

export type Stores = Pick<CrewDeps, 'archive' | 'records' | 'failures'> & {
  readonly tasks: TaskStore;
  readonly cancellations: Cancellations;
  readonly runs: RunIndex;
  close(): void;
};

/** Opens the archive, the tables and the task store. Throws if the bucket or the table is not configured. */
export function storesFromConfig(storage: Storage, region: string, env: Environment): Stores {
  const { bucket, table, kmsKey, s3Endpoint, dynamoDbEndpoint } = storage;
  if (bucket === undefined || table === undefined) {
    const missing = [
      ...(bucket === undefined
        ? ['ASYA_ARCHIVE_BUCKET is not set; expected the S3 bucket for archived envelopes']
        : []),
      ...(table === undefined
        ? ['ASYA_FAILURE_TABLE is not set; expected the DynamoDB table for ends and failures']
        : []),
    ];
    throw new ConfigurationError(`asya: ${missing.join('. ')}`);
  }
  const endpointOf = (endpoint: string | undefined) => defined({ endpoint });
  const objects = s3Archive({ bucket, region, ...endpointOf(s3Endpoint), ...defined({ kmsKey }) }, env);
  const client = dynamoDbClient({ region, ...endpointOf(dynamoDbEndpoint) }, env);
  return {
    archive: archiveWithBatches(objects),
    records: dynamoDbEndRecords({ client, name: table }, deriveId),
    failures: dynamoDbFailureIndex({ client, name: table }, deriveId),
    runs: dynamoDbRunIndex({ client, name: table }),
    tasks: dynamoDbTaskStore({ client, name: table }, systemClock, systemRandom),
    cancellations: dynamoDbCancellations({ client, name: table }, systemClock),
    close: () => {
      objects.close();
      client.destroy();
    },
  };
}

/** The log line for a failure: what failed, where, why, and its archive key. Never a payload. */
function failureDetails(failure: Failure, isNew: boolean): Details {
  const { envelopeId, actor, flow, task, reason, errorType, errorMessage, fingerprint, attempts } = failure;
  return {
    envelopeId,
    failedAt: actor,
    flow,
    task,
    reason,
    errorType,
    errorMessage,
    group: fingerprint,
    attempts,
    archiveKey: failure.archiveKey,
    ...(isNew ? {} : { again: true }),
  };
}
