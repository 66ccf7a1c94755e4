import type { Flow } from '../../../core/task/flow.ts';

const EXAMPLES: Readonly<Record<string, unknown>> = {
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
};

/** An `asya send` command for a flow. Its payload has every required field, so that the first try is valid. */
export function sendExample({ name, mcp }: Pick<Flow, 'name' | 'mcp'>): string {
  const { required, properties } = (mcp?.inputSchema ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(required) || required.length === 0) return `send ${name} --wait`;
  const types = (properties ?? {}) as Readonly<Record<string, { readonly type?: unknown } | undefined>>;
  const fields = required.map((field) => [field, EXAMPLES[String(types[field]?.type)] ?? '…']);
  return `send ${name} --payload '${JSON.stringify(Object.fromEntries(fields)).replaceAll("'", `'\\''`)}' --wait`;
}
