import { instantMs, timestampText } from '../core/text/timestamp.ts';
import { utf8Bytes } from '../core/text/utf8.ts';

/** A message as the broker delivers it. Pub/Sub's own messages have this shape. */
export interface PipelineMessage<Data = unknown> {
  readonly id: string;
  readonly data: Data;
  readonly attributes?: Attributes | undefined;
  /** A Date, RFC 3339 text, or milliseconds since 1970. */
  readonly publishTime?: Date | string | number | undefined;
}

export type Attributes = Readonly<Record<string, string>>;

/** Attribute: number of retries so far. */
export const RETRY_COUNT = 'retryCount';
/** Attribute: time of the event. The message expires a fixed time after it. */
export const EVENT_TIME = 'eventTime';

/** 0 for data that is neither bytes nor text, because only the publisher knows how it is encoded. */
export function dataBytesOf({ data }: PipelineMessage): number {
  if (data instanceof Uint8Array) return data.byteLength;
  return typeof data === 'string' ? utf8Bytes(data) : 0;
}

/** 0 if the attribute is absent or invalid. */
export function retryCountOf({ attributes }: PipelineMessage): number {
  const text = attributes?.[RETRY_COUNT];
  const count = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(count) ? count : 0;
}

export interface EventTime {
  readonly eventMs: number;
  /** The text for the published message: the original text if it was valid. */
  readonly text: string;
}

/** The attribute, or the publish time, or now. */
export function eventTimeOf({ attributes, publishTime }: PipelineMessage, now: number): EventTime {
  const text = attributes?.[EVENT_TIME];
  const eventMs = instantMs(text);
  if (typeof text === 'string' && eventMs !== undefined) return { eventMs, text };
  const publishedMs = publishMs(publishTime) ?? now;
  return { eventMs: publishedMs, text: timestampText(publishedMs) };
}

const YEAR_10000_MS = 253_402_300_800_000;

function publishMs(time: PipelineMessage['publishTime']): number | undefined {
  const milliseconds = typeof time === 'string' ? instantMs(time) : time?.valueOf();
  // NaN, or outside the years that RFC 3339 can express.
  return milliseconds !== undefined && milliseconds >= 0 && milliseconds < YEAR_10000_MS
    ? milliseconds
    : undefined;
}
