import type { Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Flow } from '../../core/task/flow.ts';
import { type JsonText, readJson, shallowValueFromJson } from '../../core/text/json-text.ts';

/** Reading and comparing a value is recursive. */
const MAX_DEPTH = 500;

const EXPECTED = 'a message must contain one data part, or text parts only';

/**
 * The payload of a message. A data part is used exactly as the body contains it. Text becomes `{"text": …}`, or the
 * key that the flow's `a2a.text` names.
 */
export function messagePayload(parts: readonly Part[], { a2a }: Flow, body: string): JsonText {
  const texts = parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));
  const data = parts.flatMap(({ content }, index) =>
    content?.$case === 'data' ? [{ value: content.value as unknown, index }] : [],
  );
  if (texts.length + data.length < parts.length) {
    throw new ContentTypeNotSupportedError(`${EXPECTED}; to send a file, send a data part with its location`);
  }
  const [only] = data;
  if (only === undefined ? texts.length === 0 : parts.length > 1) throw new RequestMalformedError(EXPECTED);
  if (only !== undefined) return dataText(only.value, only.index, body);
  const name = typeof a2a?.['text'] === 'string' ? a2a['text'] : 'text';
  return JSON.stringify({ [name]: texts.join('\n') }) as JsonText;
}

/** The part's JSON text in the body, or the SDK's value if that differs (the older protocol wraps the data). */
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
