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

/** One request, as far as the SDK does not hand it on. */
export interface A2aRequest {
  readonly caller: Caller;
  /** Where the agent answers. */
  readonly url: string;
  readonly body: string;
  readonly traceparent?: string;
  /** Nobody waits for the answer any more. The task goes on. */
  readonly signal: AbortSignal;
}

/**
 * The SDK's operations, for one request. Its own handler keeps tasks and their events in memory, which another instance
 * would not see: here the gateway keeps them.
 */
export function requestHandler(options: HandlerOptions, request: A2aRequest): A2ARequestHandler {
  const { gateway, about, onBug } = options;
  const { caller, url, body, traceparent, signal } = request;

  async function begin(params: SendMessageRequest): Promise<MeshTask> {
    const { message, metadata, configuration } = params;
    if (message === undefined || message.messageId === '') {
      throw new RequestMalformedError('the message has no "messageId"');
    }
    if (configuration?.taskPushNotificationConfig !== undefined)
      throw new PushNotificationNotSupportedError();
    if (message.taskId !== '') {
      await shown(message.taskId);
      throw new UnsupportedOperationError('a task takes no further messages; send one without "taskId"');
    }
    const flow = chooseFlow(gateway.flows(caller), message.metadata, metadata);
    const created = await gateway.create(caller, flow.name, messagePayload(message.parts, flow, body), {
      // Its sender makes it unique: a message that is sent again is the same task.
      idempotencyKey: `a2a:${message.messageId}`,
      ...defined({ traceparent }),
    });
    if (!created.ok) throw refusedMessage(created);
    return created.task;
  }

  async function shown(id: string): Promise<MeshTask> {
    const found = await gateway.task(caller, id);
    if (!found.ok) throw refusedTask(found);
    return found.task;
  }

  async function cameTo(id: string, named?: TaskIds): Promise<Task> {
    const found = await gateway.result(caller, id);
    if (!found.ok) throw refusedTask(found);
    return toTask(named ?? idsOf(found.result.task, undefined), found.result);
  }

  /** Until it has ended or waits for somebody. */
  async function settle({ id }: MeshTask): Promise<void> {
    for await (const { child, state } of followTask(gateway, caller, id, undefined, signal)) {
      if (child === undefined && (isFinal(state) || state === 'paused')) return;
    }
  }

  async function answered<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw forClient(error, onBug);
    }
  }

  async function* streamed(begun: () => Promise<MeshTask>, contextId: string | undefined) {
    try {
      const task = await begun();
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
      answered(async () => agentCard(about, url, gateway.flows(caller))),
    sendMessage: (params) =>
      answered(async () => {
        const task = await begin(params);
        if (params.configuration?.returnImmediately !== true) await settle(task);
        return cameTo(task.id, idsOf(task, params.message?.contextId));
      }),
    sendMessageStream: (params) => streamed(() => begin(params), params.message?.contextId),
    getTask: ({ id }) => answered(() => cameTo(id)),
    cancelTask: ({ id }) =>
      answered(async () => {
        const canceled = await gateway.cancel(caller, id);
        if (!canceled.ok) throw refusedTask(canceled);
        return toTask(idsOf(canceled.task, undefined), { task: canceled.task });
      }),
    resubscribe: ({ id }) => streamed(() => subscribable(id), undefined),
    listTasks: async () => {
      throw new UnsupportedOperationError('tasks are listed by the gateway itself, at /tasks');
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };

  async function subscribable(id: string): Promise<MeshTask> {
    const task = await shown(id);
    if (isFinal(task.state)) throw new UnsupportedOperationError('the task has ended: get it instead');
    return task;
  }
}
