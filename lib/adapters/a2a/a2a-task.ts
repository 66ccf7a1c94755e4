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
  // Somebody outside has to do something before it goes on.
  paused: TaskState.TASK_STATE_INPUT_REQUIRED,
  succeeded: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
};

/** The mesh keeps no conversations: a context is what the client calls it, and else the task's own id. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

export function idsOf({ id }: MeshTask, contextId: string | undefined): TaskIds {
  return { taskId: id, contextId: contextId || id };
}

export function toTask(named: TaskIds, { task, payload }: TaskResult): Task {
  const artifact = toArtifact(task, payload);
  return {
    id: named.taskId,
    contextId: named.contextId,
    status: toStatus(named, { ...task, atMs: task.updatedMs }),
    artifacts: artifact === undefined ? [] : [artifact],
    history: [],
    metadata: { flow: task.flow, percent: task.progress.percent },
  };
}

/** What a task ended with, where it succeeded: a failed one ends with what it was given. */
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

export function toStatus(named: TaskIds, { state, reason, error, atMs }: StatusSource): TaskStatus {
  const why = state === 'succeeded' ? '' : whyText(reason, error);
  return {
    state: STATES[state],
    message: why === '' ? undefined : agentMessage(named, why),
    timestamp: new Date(atMs).toISOString(),
  };
}

function whyText(reason: string | undefined, error: TaskError | undefined): string {
  const said = error === undefined ? [] : [error.type, error.message];
  return [...(reason === undefined ? [] : [reason]), ...said].join(': ');
}

/** A task has one message of ours at most, so its id is made of the task's. */
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
