import { BadRequest } from './bad-request.ts';
import { valueAt } from './value-at.ts';

/** The handler returned a value that JSON cannot represent. The class name is the error's type in the mesh. */
class ResultNotSerializable extends TypeError {}

/** Throws a ResultNotSerializable if JSON cannot represent the value. */
export function encodeResult(value: unknown): string {
  let text: string | undefined;
  try {
    text = typeof value === 'number' && !Number.isFinite(value) ? undefined : JSON.stringify(value);
  } catch (error) {
    const reason = String(valueAt(error, 'message')).split('\n')[0];
    throw new ResultNotSerializable(`the handler's result cannot be encoded as JSON: ${reason}`, {
      cause: error,
    });
  }
  if (text !== undefined) return text;
  const kind = typeof value === 'number' ? String(value) : `a ${typeof value}`;
  throw new ResultNotSerializable(
    `the handler's result is ${kind}, which JSON cannot represent; ` +
      'return objects, arrays, strings, numbers, booleans or null',
  );
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Throws a BadRequest if the body is not JSON in UTF-8. */
export function decodeRequest(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body));
  } catch (error) {
    throw new BadRequest(
      `the request body (${body.length} bytes) is not JSON: ${valueAt(error, 'message')}; ` +
        'send one JSON value encoded as UTF-8',
    );
  }
}
