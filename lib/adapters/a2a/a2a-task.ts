import { type Artifact, type Message, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import {
  isFinal,
  type TaskState as MeshState,
  type Task as MeshTask,
  type TaskError,
  type TaskResult,
} from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import { resultPart, textPart } from './result-part.ts';

const STATES: Readonly<Record<MeshState, TaskState>> = {
  pending: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  // The task waits for an action from outside the mesh.
  paused: TaskState.TASK_STATE_INPUT_REQUIRED,
  succeeded: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

/** The mesh has no conversations: the context id is the client's, or the task's id if the client sends none. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

export function idsOf({ id }: MeshTask, contextId: string | undefined): TaskIds {
  return { taskId: id, contextId: contextId || id };
}

export function toTask(ids: TaskIds, { task, payload }: TaskResult): Task {
  const artifact = toArtifact(task, payload);
  return {
    id: ids.taskId,
    contextId: ids.contextId,
    status: toStatus(ids, { ...task, atMs: task.updatedMs, ...currentUpdate(task) }),
    artifacts: artifact === undefined ? [] : [artifact],
    history: [],
    metadata: { flow: task.flow, percent: task.progress.percent },
  };
}

/** The result of a task that succeeded. A failed task has none: its envelope keeps the original payload. */
export function toArtifact({ state, flow }: MeshTask, payload: TaskResult['payload']): Artifact | undefined {
  if (state !== 'succeeded' || payload === undefined) return undefined;
  return {
    artifactId: 'result',
    name: flow,
    description: '',
    parts: [resultPart(payload)],
    metadata: undefined,
    extensions: [],
  };
}

interface StatusSource {
  readonly state: MeshState;
  readonly reason?: string;
  readonly error?: TaskError;
  readonly atMs: number;
  /** A handler's progress, with the number of its event. */
  readonly seq?: number;
  readonly percent?: number;
  readonly message?: string;
}

export function toStatus(ids: TaskIds, source: StatusSource): TaskStatus {
  return {
    state: STATES[source.state],
    message: statusMessage(ids, source),
    timestamp: new Date(source.atMs).toISOString(),
  };
}

/** The ids are derived, so that a message that is read again has the same id. */
function statusMessage(ids: TaskIds, source: StatusSource): Message | undefined {
  const { state, reason, error, seq, percent, message } = source;
  const why = state === 'succeeded' ? '' : whyText(reason, error);
  if (why !== '') return agentMessage(ids, `${ids.taskId}-status`, why);
  const text = message ?? (percent === undefined ? undefined : `${percent} %`);
  return text === undefined || isFinal(state)
    ? undefined
    : agentMessage(ids, `${ids.taskId}-progress-${seq}`, text);
}

/** What the handler of the actor that the root is at reported last. */
function currentUpdate({ events, progress }: MeshTask): Pick<StatusSource, 'seq' | 'percent' | 'message'> {
  const latest = events.findLast(({ type, child }) => type === 'progress' && child === undefined);
  if (latest === undefined || latest.actor !== progress.current) return {};
  const { seq, percent, message } = latest;
  return { seq, ...defined({ percent, message }) };
}

function whyText(reason: string | undefined, error: TaskError | undefined): string {
  const errorTexts = error === undefined ? [] : [error.type, error.message];
  return [...(reason === undefined ? [] : [reason]), ...errorTexts].join(': ');
}

function agentMessage({ taskId, contextId }: TaskIds, messageId: string, text: string): Message {
  return {
    messageId,
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: [textPart(text, 'text/plain')],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
