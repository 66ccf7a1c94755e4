import type { Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Flow } from '../../core/task/flow.ts';
import { type JsonText, readJson, shallowValueFromJson } from '../../core/text/json-text.ts';

/** What is deeper could not be compared. */
const MAX_DEPTH = 500;

const EXPECTED = 'a message holds one data part, or text';

/**
 * The payload that a message stands for. A data part is it, word for word as the body has it; text becomes
 * `{"text": …}`, or stands under the name that `a2a.text` of the flow says.
 */
export function messagePayload(parts: readonly Part[], { a2a }: Flow, body: string): JsonText {
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  const data = parts.flatMap(({ content }, index) =>
    content?.$case === 'data' ? [{ value: content.value as unknown, index }] : [],
  );
  if (texts.length + data.length < parts.length) {
    throw new ContentTypeNotSupportedError(`${EXPECTED}; files are sent as data that says where they are`);
  }
  const [only] = data;
  if (only === undefined ? texts.length === 0 : parts.length > 1) throw new RequestMalformedError(EXPECTED);
  if (only !== undefined) return dataText(only.value, only.index, body);
  const name = typeof a2a?.['text'] === 'string' ? a2a['text'] : 'text';
  return JSON.stringify({ [name]: texts.join('\n') }) as JsonText;
}

/** The part's text in the body; where the SDK has read something else there (the older protocol wraps), its value. */
function dataText(value: unknown, index: number, body: string): JsonText {
  const found = partsIn(body)[index];
  const text = found === undefined ? undefined : memberOf(found, 'data');
  const shallow = text === undefined ? undefined : shallowValueFromJson(text, MAX_DEPTH);
  if (text !== undefined && shallow === undefined) {
    throw new RequestMalformedError(`the data is nested deeper than ${MAX_DEPTH} levels`);
  }
  const read = JSON.stringify(value) as JsonText;
  return text !== undefined && JSON.stringify(shallow?.value) === read ? text : read;
}

function partsIn(body: string): readonly JsonText[] {
  const parts = ['params', 'message', 'parts'].reduce<string | undefined>(
    (text, name) => (text === undefined ? undefined : memberOf(text, name)),
    body,
  );
  const list = readJson(parts ?? '');
  return list.kind === 'array' ? list.items : [];
}

function memberOf(text: string, name: string): JsonText | undefined {
  const reading = readJson(text);
  return reading.kind === 'object' ? reading.members.get(name) : undefined;
}
