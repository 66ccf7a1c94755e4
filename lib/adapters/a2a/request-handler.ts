import type { SendMessageRequest, Task } from '@a2a-js/sdk';
import {
  PushNotificationNotSupportedError,
  RequestMalformedError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { followTask } from '../../app/gateway/follow-task.ts';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import { isFinal, type Task as MeshTask } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import { forClient, refusedMessage, refusedTask } from './a2a-error.ts';
import { idsOf, type TaskIds, toTask } from './a2a-task.ts';
import { type AgentAbout, agentCard } from './agent-card.ts';
import { chooseFlow } from './choose-flow.ts';
import { messagePayload } from './message-payload.ts';
import { taskUpdates } from './task-updates.ts';

export interface HandlerOptions {
  readonly gateway: Gateway;
  readonly about: AgentAbout;
  readonly onBug: (error: unknown) => void;
}

/** The parts of a request that the SDK does not pass on. */
export interface A2aRequest {
  readonly caller: Caller;
  /** The agent's URL. */
  readonly url: string;
  readonly body: string;
  readonly traceparent?: string;
  /** Aborted when the client disconnects. The task continues. */
  readonly signal: AbortSignal;
}

/**
 * The SDK's operations for one request. The SDK's own handler keeps tasks and events in memory, where other instances
 * cannot read them; this one uses the gateway's store.
 */
export function requestHandler(options: HandlerOptions, request: A2aRequest): A2ARequestHandler {
  const { gateway, about, onBug } = options;
  const { caller, url, body, traceparent, signal } = request;

  async function createTask(params: SendMessageRequest): Promise<MeshTask> {
    const { message, metadata, configuration } = params;
    if (message === undefined || message.messageId === '') {
      throw new RequestMalformedError('missing "messageId" in the message');
    }
    if (configuration?.taskPushNotificationConfig !== undefined)
      throw new PushNotificationNotSupportedError();
    if (message.taskId !== '') {
      await readTask(message.taskId);
      throw new UnsupportedOperationError(
        'a task accepts no further messages; send the message without "taskId"',
      );
    }
    const flow = chooseFlow(gateway.flows(caller), message.metadata, metadata);
    const created = await gateway.create(caller, flow.name, messagePayload(message.parts, flow, body), {
      // Clients generate a unique messageId: a message that is sent twice creates one task.
      idempotencyKey: `a2a:${message.messageId}`,
      ...defined({ traceparent }),
    });
    if (!created.ok) throw refusedMessage(created);
    return created.task;
  }

  async function readTask(id: string): Promise<MeshTask> {
    const found = await gateway.task(caller, id);
    if (!found.ok) throw refusedTask(found);
    return found.task;
  }

  async function taskWithResult(id: string, ids?: TaskIds): Promise<Task> {
    const found = await gateway.result(caller, id);
    if (!found.ok) throw refusedTask(found);
    return toTask(ids ?? idsOf(found.result.task, undefined), found.result);
  }

  /** Resolves when the task has ended or is paused. */
  async function untilEndedOrPaused({ id }: MeshTask): Promise<void> {
    for await (const { child, state } of followTask(gateway, caller, id, undefined, signal)) {
      if (child === undefined && (isFinal(state) || state === 'paused')) return;
    }
  }

  async function mapErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw forClient(error, onBug);
    }
  }

  async function* streamed(getTask: () => Promise<MeshTask>, contextId: string | undefined) {
    try {
      const task = await getTask();
      yield* taskUpdates(gateway, caller, task, idsOf(task, contextId), signal);
    } catch (error) {
      throw forClient(error, onBug);
    }
  }

  async function noPush(): Promise<never> {
    throw new PushNotificationNotSupportedError();
  }

  return {
    getAgentCard: async () => agentCard(about, url, gateway.flows(caller)),
    getAuthenticatedExtendedAgentCard: () =>
      mapErrors(async () => agentCard(about, url, gateway.flows(caller))),
    sendMessage: (params) =>
      mapErrors(async () => {
        const task = await createTask(params);
        if (params.configuration?.returnImmediately !== true) await untilEndedOrPaused(task);
        return taskWithResult(task.id, idsOf(task, params.message?.contextId));
      }),
    sendMessageStream: (params) => streamed(() => createTask(params), params.message?.contextId),
    getTask: ({ id }) => mapErrors(() => taskWithResult(id)),
    cancelTask: ({ id }) =>
      mapErrors(async () => {
        const canceled = await gateway.cancel(caller, id);
        if (!canceled.ok) throw refusedTask(canceled);
        return toTask(idsOf(canceled.task, undefined), { task: canceled.task });
      }),
    resubscribe: ({ id }) => streamed(() => subscribable(id), undefined),
    listTasks: async () => {
      throw new UnsupportedOperationError('listing tasks is not supported over A2A; use GET /tasks');
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };

  async function subscribable(id: string): Promise<MeshTask> {
    const task = await readTask(id);
    if (isFinal(task.state))
      throw new UnsupportedOperationError('the task has ended; read it instead of subscribing');
    return task;
  }
}
