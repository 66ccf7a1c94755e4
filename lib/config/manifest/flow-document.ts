import type { Flow } from '../../core/task/flow.ts';
import { defined } from '../../core/text/defined.ts';
import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { durationMs } from '../../core/text/duration.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, isMisspelt, type MistakeCollector } from '../../core/text/mistake.ts';
import {
  namesIn,
  optional,
  plainText,
  type ReadField,
  type Reference,
  readList,
  readMap,
  readName,
  readText,
} from './manifest-field.ts';

const DOCUMENT_FIELDS = ['flows'] as const;
const FLOW_FIELDS = ['name', 'entrypoint', 'route_next', 'description', 'timeout', 'mcp', 'a2a'] as const;
const MCP_FIELDS = ['inputSchema'] as const;

const FLOW_NAME_RULE = 'a flow\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end';

/** About thirty years. */
const MAX_TIMEOUT_SECONDS = 1_000_000_000;

/** An envelope arrives with less than its whole timeout left, and with less than 1 s left no actor is called. */
export const TIMEOUT_TOO_SHORT =
  'is 1; such a flow can never succeed, because an actor is not called with less than 1 s left; use at least 2';

export interface FlowReading {
  /** Contains placeholders if there were mistakes; do not use it then. */
  readonly flow: Flow;
  /** Its index in the document. */
  readonly index: number;
  /** Collects mistakes at its name. */
  readonly named: MistakeCollector;
  readonly references: readonly Reference[];
  /** It has a timeout that is not valid, and that is not in `flow`. */
  readonly isTimeoutInvalid: boolean;
}

/** Whether the file contains flows, by its name. */
export function isFlowsFile(path: string): boolean {
  return /(?:^|\/)flows\.ya?ml$/.test(path);
}

/** Reads a document of `flows.yaml` and reports all its mistakes. */
export function readFlows(value: unknown, notes: MistakeCollector): readonly FlowReading[] {
  if (!isFields(value)) {
    notes.add(`is ${describeValue(value)}; expected "flows:" with a list`);
    return [];
  }
  addUnknownKeys(notes, value, DOCUMENT_FIELDS);
  const items = readList(value['flows'], notes.at('flows')) ?? [];
  return items.flatMap((item, index) => {
    const here = notes.at('flows').at(index);
    const fields = readMap(item, here);
    return fields === undefined ? [] : [readFlow(fields, index, here)];
  });
}

function readFlow(fields: Fields, index: number, notes: MistakeCollector): FlowReading {
  addUnknownKeys(notes, fields, FLOW_FIELDS);
  const { name, entrypoint, route_next, description, timeout, mcp, a2a } = fields;
  const first = { name: entrypoint, notes: notes.at('entrypoint') };
  const rest = optional(route_next, notes.at('route_next'), readList, []).map((item, position) => ({
    name: item,
    notes: notes.at('route_next').at(position),
  }));
  const text = optional(description, notes.at('description'), readText, undefined);
  const timeoutSeconds = optional(timeout, notes.at('timeout'), readTimeoutSeconds, undefined);
  const tool = optional(mcp, notes.at('mcp'), readMcp, undefined);
  const skill = optional(a2a, notes.at('a2a'), readMap, undefined);
  const flow: Flow = {
    name: readName(FLOW_NAME_RULE)(name, notes.at('name')) ?? '',
    entrypoint: plainText(entrypoint),
    routeNext: namesIn(rest),
    ...defined({ description: text, timeoutSeconds, mcp: tool, a2a: skill }),
  };
  const isTimeoutInvalid =
    timeoutSeconds === undefined && (timeout !== undefined || isMisspelt(fields, FLOW_FIELDS, 'timeout'));
  return { flow, index, named: notes.at('name'), references: [first, ...rest], isTimeoutInvalid };
}

const readTimeoutSeconds: ReadField<number> = (value, notes) => {
  if (value === 1) {
    notes.add(TIMEOUT_TOO_SHORT);
    return undefined;
  }
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_TIMEOUT_SECONDS) {
    return Number(value);
  }
  const meantMs = durationMs(value);
  const meant =
    meantMs === undefined || meantMs < 1000
      ? ''
      : `; did you mean ${Math.max(2, Math.round(meantMs / 1000))}?`;
  notes.add(`${describeReceived(value)}; expected a whole number of seconds, 2 or more, such as 360${meant}`);
  return undefined;
};

const readMcp: ReadField<NonNullable<Flow['mcp']>> = (value, notes) => {
  const fields = readMap(value, notes);
  if (fields === undefined) return undefined;
  addUnknownKeys(notes, fields, MCP_FIELDS);
  const { inputSchema } = fields;
  if (!isFields(inputSchema)) {
    const problem = `${describeReceived(inputSchema)}; expected a JSON Schema like {type: object, properties: {...}}`;
    notes.at('inputSchema').add(problem);
    return undefined;
  }
  const { type } = inputSchema;
  if (type !== undefined && type !== 'object') {
    notes
      .at('inputSchema')
      .at('type')
      .add(`is ${describeValue(type)}; the input of a tool must be an "object"`);
  }
  return { inputSchema };
};
