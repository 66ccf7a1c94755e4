import { type Artifact, type Message, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import type {
  TaskState as MeshState,
  Task as MeshTask,
  TaskError,
  TaskResult,
} from '../../core/task/task.ts';
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
    status: toStatus(ids, { ...task, atMs: task.updatedMs }),
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
}

export function toStatus(ids: TaskIds, { state, reason, error, atMs }: StatusSource): TaskStatus {
  const why = state === 'succeeded' ? '' : whyText(reason, error);
  return {
    state: STATES[state],
    message: why === '' ? undefined : agentMessage(ids, why),
    timestamp: new Date(atMs).toISOString(),
  };
}

function whyText(reason: string | undefined, error: TaskError | undefined): string {
  const errorTexts = error === undefined ? [] : [error.type, error.message];
  return [...(reason === undefined ? [] : [reason]), ...errorTexts].join(': ');
}

/** A task has at most one message from the agent, so the message id is derived from the task's id. */
function agentMessage({ taskId, contextId }: TaskIds, text: string): Message {
  return {
    messageId: `${taskId}-status`,
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: [textPart(text, 'text/plain')],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}
