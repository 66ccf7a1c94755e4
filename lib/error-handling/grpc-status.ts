import { isFields } from '../core/text/fields.ts';
import { fieldOf, textOf } from './guarded-read.ts';

/** The codes of gRPC in the order of their numbers, each with the HTTP status that Google's own mapping gives it. */
const HTTP_BY_NAME: ReadonlyMap<string, number | undefined> = new Map([
  ['OK', undefined],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
]);
const NAMES = [...HTTP_BY_NAME.keys()];

/** By name in `code` or `status`, as REST clients tell it; or by number, as gRPC does. */
export function grpcStatusIn(error: unknown): number | undefined {
  for (const place of ['code', 'status']) {
    const status = HTTP_BY_NAME.get(textOf(error, place) ?? '');
    if (status !== undefined) return status;
  }
  const code = fieldOf(error, 'code');
  const name = typeof code === 'number' ? NAMES[code] : undefined;
  return name !== undefined && isFromGrpc(error, `${code} ${name}`) ? HTTP_BY_NAME.get(name) : undefined;
}

const CLASSES = /google|rpc|connect/i;

/**
 * A small number alone is no proof: a command that exits with 5 has `code: 5` too, and must not be dropped as something
 * that was not found.
 */
function isFromGrpc(error: unknown, beginning: string): boolean {
  return (
    typeof fieldOf(error, 'details') === 'string' ||
    isFields(fieldOf(error, 'metadata')) ||
    textOf(error, 'message')?.startsWith(beginning) === true ||
    CLASSES.test(`${textOf(error, 'name')} ${textOf(error, 'constructor', 'name')}`)
  );
}
