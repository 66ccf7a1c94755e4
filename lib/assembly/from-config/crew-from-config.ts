import { dynamoDbClient } from '../../adapters/dynamodb/dynamodb-client.ts';
import { dynamoDbEndRecords } from '../../adapters/dynamodb/dynamodb-end-records.ts';
import { dynamoDbFailureIndex } from '../../adapters/dynamodb/dynamodb-failure-index.ts';
import { dynamoDbTaskStore } from '../../adapters/dynamodb/dynamodb-task-store.ts';
import { gatewayReports } from '../../adapters/gateway-http/gateway-reports.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { s3Archive } from '../../adapters/s3/s3-archive.ts';
import { deriveId, systemClock, systemRandom } from '../../adapters/system/system.ts';
import { type CrewDeps, crewRuntime } from '../../app/crew/crew.ts';
import type { CrewConfig, Storage } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { defined } from '../../core/text/defined.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import type { Details } from '../../ports/telemetry.ts';
import { gatewayAddress } from './gateway-address.ts';
import type { MakeRuntime } from './runtime-from-config.ts';

/** One of the crew, for a host that was told which: a function of another name would keep nothing. */
export function crewFromConfig(name: string): MakeRuntime {
  return async (config, env, log) => {
    const { actor } = config;
    if (actor.name !== name)
      throw new Error(`asya: this is ${name}, and ASYA_ACTOR_NAME is "${actor.name}"; set it to ${name}`);
    // Without storage it is not one of the crew either, and the message names what is missing.
    const shelf = shelfFromConfig(config, env, log);
    if (actor.crew === undefined) {
      throw new Error(
        `asya: this is ${name}, which has no runtime; unset ASYA_RUNTIME_COMMAND and ASYA_RUNTIME_URL`,
      );
    }
    return crewRuntime(actor.crew, shelf);
  };
}

function shelfFromConfig(config: CrewConfig, env: Environment, log: JsonLog): CrewDeps {
  const stores = storesFromConfig(config.storage, config.sqs.region, env);
  return {
    ...stores,
    reports: gatewayReports(gatewayAddress(config)),
    clock: systemClock,
    deriveId,
    telemetry: log,
    onFailure: (failure, isNew) => log.line('error', 'failure', failureDetails(failure, isNew)),
  };
}

export type Stores = Pick<CrewDeps, 'archive' | 'records' | 'failures'> & {
  readonly tasks: TaskStore;
  close(): void;
};

/** Throws in words for the operator where a place to keep things is not named. */
export function storesFromConfig(storage: Storage, region: string, env: Environment): Stores {
  const { bucket, table, kmsKey, s3Endpoint, dynamoDbEndpoint } = storage;
  if (bucket === undefined || table === undefined) {
    const missing = [
      ...(bucket === undefined ? ['ASYA_ARCHIVE_BUCKET, the bucket of whole envelopes'] : []),
      ...(table === undefined ? ['ASYA_FAILURE_TABLE, the table of ends and failures'] : []),
    ];
    throw new Error(`asya: not set: ${missing.join('; ')}`);
  }
  const endpointOf = (endpoint: string | undefined) => defined({ endpoint });
  const archive = s3Archive({ bucket, region, ...endpointOf(s3Endpoint), ...defined({ kmsKey }) }, env);
  const client = dynamoDbClient({ region, ...endpointOf(dynamoDbEndpoint) }, env);
  return {
    archive,
    records: dynamoDbEndRecords({ client, name: table }, deriveId),
    failures: dynamoDbFailureIndex({ client, name: table }, deriveId),
    tasks: dynamoDbTaskStore({ client, name: table }, systemClock, systemRandom),
    close: () => {
      archive.close();
      client.destroy();
    },
  };
}

/** The one line at night: what failed, where, why, and where to look. Never a payload. */
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
