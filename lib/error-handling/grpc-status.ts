import { isFields } from '../core/text/fields.ts';
import { fieldOf, textOf } from './guarded-read.ts';

/** gRPC codes in numeric order, with the HTTP status of Google's own mapping. */
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

/** Reads a name in `code` or `status` (REST clients) or a number in `code` (gRPC). */
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
 * A small number does not prove that the error is from gRPC: a command that exits with 5 also has `code: 5`, and must not
 * be dropped as NOT_FOUND.
 */
function isFromGrpc(error: unknown, beginning: string): boolean {
  return (
    typeof fieldOf(error, 'details') === 'string' ||
    isFields(fieldOf(error, 'metadata')) ||
    textOf(error, 'message')?.startsWith(beginning) === true ||
    CLASSES.test(`${textOf(error, 'name')} ${textOf(error, 'constructor', 'name')}`)
  );
}
