import { type CallToolResult, ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import { followTask } from '../../app/gateway/follow-task.ts';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import type { TaskProgress } from '../../core/task/task.ts';
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

/** MCP requires that the progress value increases with each notification. */
async function reportUntilEnded(
  gateway: Gateway,
  caller: Caller,
  id: string,
  { onProgress }: ToolCall,
  signal: AbortSignal,
): Promise<void> {
  let reported = -1;
  for await (const { progress } of followTask(gateway, caller, id, undefined, signal)) {
    if (progress.percent <= reported) continue;
    reported = progress.percent;
    await onProgress?.(reported, progressMessage(id, progress));
  }
}

function progressMessage(id: string, { current, done }: TaskProgress): string {
  return current === undefined ? `task ${id}: ${done.length} done` : `task ${id}: at ${current}`;
}
