import type { HandlerProgress } from '../envelope/handler-progress.ts';
import { type JsonText, readJson } from '../text/json-text.ts';
import { exceedsUtf8Bytes, headWithinUtf8 } from '../text/utf8.ts';

/** A longer message is cut. */
const MAX_MESSAGE_BYTES = 1024;
/** Larger data is left out: every later write of the task would carry it. */
export const MAX_DATA_BYTES = 4096;

/**
 * A handler's progress as a task stores it: the percentage is between 0 and 100 with one decimal, the message is cut, and
 * data above the limit is left out. Values that are not what they should be are left out too.
 */
export function limitProgress({ percent, message, data }: HandlerProgress): HandlerProgress {
  return {
    ...(typeof percent === 'number' && !Number.isNaN(percent) && { percent: limitPercent(percent) }),
    ...(typeof message === 'string' &&
      message !== '' && { message: headWithinUtf8(message, MAX_MESSAGE_BYTES) }),
    ...(isAcceptable(data) && { data }),
  };
}

/** The gateway would reject invalid JSON together with the other reports of the request. */
function isAcceptable(data: unknown): data is JsonText {
  return (
    typeof data === 'string' && !exceedsUtf8Bytes(data, MAX_DATA_BYTES) && readJson(data).kind !== 'invalid'
  );
}

function limitPercent(percent: number): number {
  return Math.round(Math.min(100, Math.max(0, percent)) * 10) / 10;
}
