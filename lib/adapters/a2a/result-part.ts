import type { Part } from '@a2a-js/sdk';
import { exactValueFromJson } from '../../core/text/exact-value.ts';
import { type JsonText, stringFromJson } from '../../core/text/json-text.ts';

/** A payload as a part: a string as text, anything else as data. */
export function resultPart(payload: JsonText): Part {
  const text = stringFromJson(payload);
  if (text !== undefined) return textPart(text, 'text/plain');
  // A data part with null would be read as an empty part.
  const exact = payload === 'null' ? undefined : exactValueFromJson(payload);
  if (exact === undefined) return textPart(payload, 'application/json');
  const { value } = exact;
  return {
    content: { $case: 'data', value },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  };
}

export function textPart(value: string, mediaType: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType };
}
