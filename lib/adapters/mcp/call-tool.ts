import { type CallToolResult, ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { followTask } from '../../app/gateway/follow-task.ts';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import type { TaskEvent } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import { toCallResult } from './call-result.ts';
import { RpcError, refusedCall, unknownTool } from './rpc-error.ts';
import { isTool } from './tools.ts';

export interface ToolCall {
  readonly tool: string;
  readonly input: JsonText;
  readonly traceparent?: string;
  /** Undefined if the client did not request progress notifications. */
  readonly onProgress?: (percent: number, message: string) => Promise<void>;
  /** Ends the wait. The task continues. */
  readonly signal: AbortSignal;
}

export async function callTool(gateway: Gateway, caller: Caller, call: ToolCall): Promise<CallToolResult> {
  const { tool, input, traceparent, signal } = call;
  if (!isTool(gateway, caller, tool)) throw unknownTool();
  const created = await gateway.create(caller, tool, input, defined({ traceparent }));
  if (!created.ok) throw refusedCall(created);
  const { id } = created.task;
  await reportUntilEnded(gateway, caller, id, call, signal);
  const ended = await gateway.result(caller, id);
  if (!ended.ok) throw new RpcError(ErrorCode.InternalError, ended.detail);
  return toCallResult(ended.result);
}

/**
 * MCP requires that the progress value increases with each notification. A handler's message is sent even if the
 * percentage is the same: the value then increases by a fraction that never reaches the next percent.
 */
async function reportUntilEnded(
  gateway: Gateway,
  caller: Caller,
  id: string,
  { onProgress }: ToolCall,
  signal: AbortSignal,
): Promise<void> {
  let reported = -1;
  for await (const event of followTask(gateway, caller, id, undefined, signal)) {
    const { percent } = event.progress;
    const message = handlerMessage(id, event);
    if (percent <= reported && message === undefined) continue;
    reported = percent > reported ? percent : reported + (percent + 1 - reported) / 1000;
    await onProgress?.(reported, message ?? routeMessage(id, event));
  }
}

/** Undefined if the event is not about what the root's handler reported. The HTTP stream has the children's events too. */
function handlerMessage(id: string, { type, child, actor, percent, message }: TaskEvent): string | undefined {
  if (type !== 'progress' || child !== undefined) return undefined;
  const text = message ?? (percent === undefined ? undefined : `${percent} %`);
  return text === undefined ? undefined : `${actor}: ${text} (task ${id})`;
}

function routeMessage(id: string, { progress: { current, done } }: TaskEvent): string {
  return current === undefined ? `task ${id}: ${done.length} done` : `task ${id}: at ${current}`;
}
