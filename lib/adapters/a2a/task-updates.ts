import type { StreamResponse } from '@a2a-js/sdk';
import { followTask } from '../../app/gateway/follow-task.ts';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import { isFinal, type Task, type TaskEvent } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import { exactValueFromJson } from '../../core/text/exact-value.ts';
import { refusedTask } from './a2a-error.ts';
import { type TaskIds, toArtifact, toStatus, toTask } from './a2a-task.ts';

/**
 * Yields the current task, then its status updates, then its result. Ends early if the signal is aborted. A2A has no
 * notion of fan-out children, so their events are left out; the gateway's own event stream has them.
 */
export async function* taskUpdates(
  gateway: Gateway,
  caller: Caller,
  task: Task,
  ids: TaskIds,
  signal: AbortSignal,
): AsyncGenerator<StreamResponse, void, undefined> {
  yield { payload: { $case: 'task', value: toTask(ids, { task }) } };
  const seen = task.events.at(-1)?.seq;
  for await (const event of followTask(gateway, caller, task.id, seen, signal)) {
    if (event.child === undefined && !isFinal(event.state)) yield statusUpdate(ids, event, metadataOf(event));
  }
  const ended = await gateway.result(caller, task.id);
  if (!ended.ok) throw refusedTask(ended);
  const { result } = ended;
  if (!isFinal(result.task.state)) return;
  const artifact = toArtifact(result.task, result.payload);
  if (artifact !== undefined) {
    const update = { ...ids, artifact, append: false, lastChunk: true, metadata: undefined };
    yield { payload: { $case: 'artifactUpdate', value: update } };
  }
  yield statusUpdate(ids, { ...result.task, atMs: result.task.updatedMs }, undefined);
}

function statusUpdate(
  ids: TaskIds,
  source: Parameters<typeof toStatus>[1],
  metadata: Record<string, unknown> | undefined,
): StreamResponse {
  const value = { ...ids, status: toStatus(ids, source), metadata };
  return { payload: { $case: 'statusUpdate', value } };
}

/** `percent` is the task's, `handlerPercent` and `data` are what the handler reported. */
function metadataOf({ type, actor, progress, percent, data }: TaskEvent): Record<string, unknown> {
  const exact = data === undefined ? undefined : exactValueFromJson(data);
  return {
    event: type,
    percent: progress.percent,
    ...defined({ actor, handlerPercent: percent, data: exact?.value }),
  };
}
