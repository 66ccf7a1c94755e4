import { utf8Bytes } from '../text/utf8.ts';

/** Pub/Sub's limits for the attributes of a message. */
const MAX_ATTRIBUTES = 100;
const MAX_ATTRIBUTE_BYTES = 1024;

/** The size limit of a publish request, as documented. */
const MAX_REQUEST_BYTES = 10_000_000;
/** The same limit, as Pub/Sub's error message states it. */
const MAX_REQUEST_BYTES_IN_ERRORS = 10 * 1024 * 1024;
/** The name of the topic and the encoding around one message. */
const REQUEST_OVERHEAD_BYTES = 512;
/** The encoding of one attribute: tags and lengths, or quotes. */
const ATTRIBUTE_OVERHEAD_BYTES = 10;

type Attributes = Readonly<Record<string, string>>;

/**
 * All kept attributes, and the added ones as long as they fit, in their order. Pub/Sub would reject a message with too
 * many attributes, or a too large one, at every attempt.
 */
export function withAttributes(kept: Attributes, added: Attributes, dataBytes: number): Attributes {
  const merged: Record<string, string> = { ...kept };
  let room = roomBytes(kept, dataBytes);
  for (const [name, value] of Object.entries(added)) {
    const isNew = !Object.hasOwn(kept, name);
    if (isNew && Object.keys(merged).length >= MAX_ATTRIBUTES) continue;
    const growth = attributeBytes(name, value) - (isNew ? 0 : attributeBytes(name, kept[name]));
    if (growth > room) continue;
    merged[name] = value;
    room -= growth;
  }
  return merged;
}

/** The limit for an added text: at most a quarter of the room, so that the first text leaves room for others. */
export function maxTextBytes(kept: Attributes, dataBytes: number): number {
  return Math.min(MAX_ATTRIBUTE_BYTES, Math.floor(roomBytes(kept, dataBytes) / 4));
}

function roomBytes(kept: Attributes, dataBytes: number): number {
  const entries = Object.entries(kept);
  const keptBytes = entries.reduce((sum, [name, value]) => sum + attributeBytes(name, value), dataBytes);
  // The message was published, so its size shows which limit applies. The overhead is an estimate and is left out.
  const isAboveDocumented = keptBytes - entries.length * ATTRIBUTE_OVERHEAD_BYTES > MAX_REQUEST_BYTES;
  const maxBytes = isAboveDocumented ? MAX_REQUEST_BYTES_IN_ERRORS : MAX_REQUEST_BYTES;
  return Math.max(0, maxBytes - REQUEST_OVERHEAD_BYTES - keptBytes);
}

function attributeBytes(name: string, value: unknown): number {
  return utf8Bytes(name) + utf8Bytes(String(value)) + ATTRIBUTE_OVERHEAD_BYTES;
}
