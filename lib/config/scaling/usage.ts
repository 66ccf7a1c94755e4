import type { FunctionPlan } from '../plan/function-plan.ts';
import {
  END_RECORD,
  FAILURE_ENTRY,
  GATEWAY_MS,
  IDLE_POLLS_PER_SECOND,
  LOG_BYTES,
  METRICS_PER_FUNCTION,
  REPORTED_CALL_MS,
  SEND_LINGER_MS,
  SHARED_OBJECT_BYTES,
  TASK_CHANGE,
  TASK_READS,
} from './bookkeeping.ts';
import { callsAtOnce } from './mesh-demand.ts';
import type { PricedUnit, Usage } from './prices.ts';
import { SQS_BATCH, SQS_BILLED_BYTES, SQS_REQUEST_BYTES } from './quotas.ts';
import type { Workload } from './workload.ts';

const GIGA = 1_000_000_000;
const MB_PER_GB = 1024;

export function addUsage(one: Usage, other: Usage): Usage {
  const sum: Partial<Record<PricedUnit, number>> = { ...one };
  for (const [unit, amount] of Object.entries(other) as [PricedUnit, number][])
    sum[unit] = (sum[unit] ?? 0) + amount;
  return sum;
}

/** What one invocation of a function uses. */
export function usageOfInvocation(
  plan: FunctionPlan,
  { records, durationMs }: { readonly records: number; readonly durationMs: number },
  workload: Workload,
): Usage {
  const { folder, memoryMb } = plan;
  const { envelopeBytes, trackedShare } = workload;
  const receives = Math.max(1, records / SQS_BATCH);
  const billed = Math.max(1, ((records / receives) * envelopeBytes) / SQS_BILLED_BYTES);
  const sends = sendsOf(plan, records, workload);
  const own: Usage = {
    lambdaRequests: 1,
    lambdaGbSeconds: (durationMs / 1000) * (memoryMb / MB_PER_GB),
    // Deletes carry no envelopes.
    sqsRequests: receives * billed + sends + receives,
    logGb: (LOG_BYTES.perInvocation + records * LOG_BYTES.perRecord) / GIGA,
  };
  const reported = reportsOf(plan, workload) ? records * trackedShare : 0;
  const reports = addUsage(requestsOfGateway(Math.min(1, reported)), {
    dynamodbWrites: reported * writesOf(TASK_CHANGE),
  });
  return [own, reports, stored(folder, records, workload)].reduce(addUsage);
}

/** Whether a function reports the envelopes of tasks: their ends, and long calls. */
export function reportsOf({ actor, folder }: FunctionPlan, { callMs }: Workload): boolean {
  return (
    folder === 'x-sink' || folder === 'x-dlq' || (folder === 'sidecar' && callMs(actor) >= REPORTED_CALL_MS)
  );
}

function stored(folder: FunctionPlan['folder'], records: number, workload: Workload): Usage {
  const recorded = folder === 'x-sink' || folder === 'x-dlq';
  const indexed = folder === 'x-sump' || folder === 'x-dlq';
  const writes = (recorded ? writesOf(END_RECORD) : 0) + (indexed ? writesOf(FAILURE_ENTRY) : 0);
  return {
    dynamodbWrites: records * writes,
    ...(recorded && {
      s3Puts: putsOf(records, workload),
      s3GbMonths: (records * workload.envelopeBytes) / GIGA,
    }),
  };
}

/** Objects that a batch of x-sink or x-dlq writes. */
export function putsOf(records: number, { envelopeBytes, failedShare }: Workload): number {
  const sharing = envelopeBytes > SHARED_OBJECT_BYTES ? 0 : records * (1 - failedShare);
  return records - sharing + Math.min(1, sharing);
}

/** Sends wait only a few milliseconds for others: results of calls that take longer are sent one round after another. */
function sendsOf(plan: FunctionPlan, records: number, { callMs, envelopeBytes }: Workload): number {
  if (plan.folder !== 'sidecar') return 0;
  const atOnce = callMs(plan.actor) > SEND_LINGER_MS ? Math.min(callsAtOnce(plan), records) : records;
  const fitting = Math.max(1, Math.floor(SQS_REQUEST_BYTES / envelopeBytes));
  const perSend = Math.min(SQS_BATCH, atOnce, fitting);
  return (records / perSend) * Math.max(1, (perSend * envelopeBytes) / SQS_BILLED_BYTES);
}

/** What it takes to bring envelopes into the mesh, in batches of ten, or one by one through the gateway. */
export function usageOfEntry(envelopes: number, { trackedShare }: Workload): Usage {
  const tracked = envelopes * trackedShare;
  return addUsage(requestsOfGateway(tracked), {
    sqsRequests: tracked + (envelopes - tracked) / SQS_BATCH,
    dynamodbWrites: tracked * writesOf(TASK_CHANGE),
    dynamodbReads: tracked * TASK_READS,
  });
}

const GATEWAY_MEMORY_MB = 512;

function requestsOfGateway(requests: number): Usage {
  return {
    lambdaRequests: requests,
    lambdaGbSeconds: requests * (GATEWAY_MS / 1000) * (GATEWAY_MEMORY_MB / MB_PER_GB),
    logGb: (requests * LOG_BYTES.perInvocation) / GIGA,
  };
}

const MONTH_MS = 30 * 86_400_000;

/** What a mesh uses while nothing enters it. */
export function usageAtRest(functions: readonly FunctionPlan[], durationMs: number): Usage {
  const queues = functions.reduce((sum, { sources }) => sum + sources.length, 0);
  return {
    sqsRequests: queues * IDLE_POLLS_PER_SECOND * (durationMs / 1000),
    metricMonths: functions.length * METRICS_PER_FUNCTION * (durationMs / MONTH_MS),
  };
}

/** Every index that contains an item is written with it. */
function writesOf({ writes, indexes }: { readonly writes: number; readonly indexes: readonly string[] }) {
  return writes * (1 + indexes.length);
}
