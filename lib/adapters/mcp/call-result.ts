import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Task, TaskResult } from '../../core/task/task.ts';
import { exactValueFromJson } from '../../core/text/exact-value.ts';
import { isFields } from '../../core/text/fields.ts';
import { type JsonText, stringFromJson } from '../../core/text/json-text.ts';

/** Key of the task id in `_meta`, for clients that also use the gateway's HTTP API. */
const TASK_KEY = 'asya/task';

/** The result of a call: the payload, or an error text for the model. */
export function toCallResult({ task, payload }: TaskResult): CallToolResult {
  if (task.state !== 'succeeded') return withoutResult(task, whyNot(task));
  if (payload === undefined) return withoutResult(task, 'succeeded, but its result is not available yet');
  return {
    content: [{ type: 'text', text: stringFromJson(payload) ?? payload }],
    ...structured(payload),
    _meta: { [TASK_KEY]: task.id },
  };
}

function structured(payload: JsonText): Pick<CallToolResult, 'structuredContent'> {
  const value = payload.startsWith('{') ? exactValueFromJson(payload)?.value : undefined;
  return isFields(value) ? { structuredContent: value } : {};
}

function withoutResult(task: Task, text: string): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: `task ${task.id} ${text}` }],
    _meta: { [TASK_KEY]: task.id },
  };
}

function whyNot({ state, reason, error }: Task): string {
  if (state !== 'failed' && state !== 'canceled') return `is still ${state}; it continues in the background`;
  const because = reason === undefined ? '' : ` (${reason})`;
  return error === undefined ? `${state}${because}` : `${state}${because}: ${error.type}: ${error.message}`;
}
