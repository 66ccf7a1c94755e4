import { instantMs, timestampText } from '../core/text/timestamp.ts';
import { utf8Bytes } from '../core/text/utf8.ts';

/** A message as brokers deliver it: Pub/Sub's own has this shape. What else it carries is left alone. */
export interface PipelineMessage<Data = unknown> {
  readonly id: string;
  readonly data: Data;
  readonly attributes?: Attributes | undefined;
  /** A Date, RFC 3339 text, or milliseconds since 1970. */
  readonly publishTime?: Date | string | number | undefined;
}

export type Attributes = Readonly<Record<string, string>>;

/** Retries already made. */
export const RETRY_COUNT = 'retryCount';
/** When the event happened that the message tells of: its life is counted from then. */
export const EVENT_TIME = 'eventTime';

/** 0 for what is neither bytes nor text: only the one who publishes it knows what becomes of it. */
export function dataBytesOf({ data }: PipelineMessage): number {
  if (data instanceof Uint8Array) return data.byteLength;
  return typeof data === 'string' ? utf8Bytes(data) : 0;
}

/** What cannot be read is as none. */
export function retryCountOf({ attributes }: PipelineMessage): number {
  const text = attributes?.[RETRY_COUNT];
  const count = typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(count) ? count : 0;
}

export interface EventTime {
  readonly eventMs: number;
  /** As it travels on: the text that came, where it could be read. */
  readonly text: string;
}

/** Without a readable attribute it is the publish time, and without that one it is now. */
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
  // No number, or none that could be written again.
  return milliseconds !== undefined && milliseconds >= 0 && milliseconds < YEAR_10000_MS
    ? milliseconds
    : undefined;
}
