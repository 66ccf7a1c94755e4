import { LIST_SHARDS } from '../plan/failure-table.ts';
import type { FunctionPlan } from '../plan/function-plan.ts';
import { END_RECORD, FAILURE_ENTRY, TASK_CHANGE } from './bookkeeping.ts';
import { sum } from './function-limits.ts';
import { type Limit, limitOf } from './limit.ts';
import type { FunctionDemand } from './mesh-demand.ts';
import { DYNAMODB, S3_PREFIX_PUTS } from './quotas.ts';
import { putsOf, reportsOf } from './usage.ts';
import type { Workload } from './workload.ts';

const SPLIT = 'split the mesh into several deployments, each with its own table';

/** Writes per second of one list in an index. */
const LIST_WRITES = LIST_SHARDS * DYNAMODB.partitionWrites;

/** Envelopes per second that a function of the crew can store. Other functions have no such limit. */
export function storedPerSecond(folder: FunctionPlan['folder']): number {
  if (folder === 'x-sink') return LIST_WRITES / END_RECORD.writes;
  return folder === 'x-sump' ? LIST_WRITES / FAILURE_ENTRY.writes : Number.POSITIVE_INFINITY;
}

/** The limits of the table, its indexes and the bucket. */
export function storeLimits(demands: readonly FunctionDemand[], workload: Workload): readonly Limit[] {
  const { failedShare, callers } = workload;
  const list = (resource: string, perEnvelope: number, advice: string) =>
    limitOf(workload, perEnvelope, {
      resource,
      unit: 'writes per second',
      limit: LIST_WRITES,
      advice: () => advice,
    });
  const writes =
    END_RECORD.writes + failedShare * FAILURE_ENTRY.writes + taskWritesPerEnvelope(demands, workload);
  return [
    list('index "by-time", list of ends', END_RECORD.writes, SPLIT),
    list('index "by-time", list of failures', failedShare * FAILURE_ENTRY.writes, SPLIT),
    list('index "by-group", failures of one cause', failedShare * FAILURE_ENTRY.writes, SPLIT),
    list(
      'index "by-owner", tasks of one caller',
      taskWritesPerEnvelope(demands, workload) / callers,
      'give each producer its own API key, or split the mesh',
    ),
    limitOf(workload, writes, {
      resource: 'writes of a new table',
      unit: 'write units per second',
      limit: DYNAMODB.newTableWrites,
      raisableTo: Number.POSITIVE_INFINITY,
      advice: (toSet) =>
        `before the first load, set the warm throughput of the table and its indexes to ${Math.min(toSet, DYNAMODB.tableWrites)} write units`,
    }),
    limitOf(workload, writes, {
      resource: 'writes of the table',
      unit: 'write units per second',
      limit: DYNAMODB.tableWrites,
      raisableTo: Number.POSITIVE_INFINITY,
      advice: (toSet) =>
        `request ${toSet} for the quota "Table-level write throughput limit" of DynamoDB, and as warm throughput`,
    }),
    limitOf(workload, putsPerEnvelope(demands, workload), {
      resource: 'PUT requests of one day and actor in the bucket',
      unit: 'per second',
      limit: S3_PREFIX_PUTS,
      raisableTo: Number.POSITIVE_INFINITY,
      advice: () =>
        'nothing to set: S3 splits the prefix within minutes, and x-sink receives envelopes again until then',
    }),
  ];
}

/** A task is created, and changes with each report. */
function taskWritesPerEnvelope(demands: readonly FunctionDemand[], workload: Workload): number {
  const reporting = demands.filter(({ plan }) => reportsOf(plan, workload));
  const changes = 1 + sum(reporting.map(({ deliveries }) => deliveries));
  return workload.trackedShare * changes * TASK_CHANGE.writes;
}

function putsPerEnvelope(demands: readonly FunctionDemand[], workload: Workload): number {
  const sink = demands.find(({ plan }) => plan.folder === 'x-sink');
  if (sink === undefined) return 0;
  const { batchSize } = sink.plan;
  return (sink.deliveries / batchSize) * putsOf(batchSize, workload);
}
