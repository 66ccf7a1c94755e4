import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Caller, Gateway } from '../../app/gateway/gateway.ts';
import type { Flow } from '../../core/task/flow.ts';
import { defined } from '../../core/text/defined.ts';

/** The flows that the caller may currently use as tools. */
export function toolsOf(gateway: Gateway, caller: Caller): Tool[] {
  return gateway.flows(caller).flatMap((flow) => toTool(flow) ?? []);
}

export function isTool(gateway: Gateway, caller: Caller, name: string): boolean {
  return gateway.flows(caller).some((flow) => flow.name === name && flow.mcp !== undefined);
}

function toTool({ name, description, mcp }: Flow): Tool | undefined {
  if (mcp === undefined) return undefined;
  return {
    name,
    ...defined({ description }),
    inputSchema: { ...mcp.inputSchema, type: 'object' },
  };
}
