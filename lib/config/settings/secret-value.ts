import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';

type ValueReading =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The value of a variable from the text of its secret: the whole text, or the value of a key if the text is a JSON object.
 * A problem never contains a part of the text.
 */
export function secretValue(text: string, key: string | undefined): ValueReading {
  if (key === undefined) return usable(text);
  const fields = parsed(text);
  if (fields === undefined)
    return { ok: false, problem: `it is not a JSON object, so it has no key ${describeValue(key)}` };
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined || value === null)
    return { ok: false, problem: `it has no key ${describeValue(key)}` };
  return usable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The environment of a process cannot contain NUL characters. */
function usable(value: string): ValueReading {
  if (value.includes('\0'))
    return { ok: false, problem: 'it contains a NUL character, which a variable cannot contain' };
  return { ok: true, value };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
