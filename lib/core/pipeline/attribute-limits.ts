import { utf8Bytes } from '../text/utf8.ts';

/** Pub/Sub's own limits for the attributes of a message. */
const MAX_ATTRIBUTES = 100;
const MAX_ATTRIBUTE_BYTES = 1024;

/** A request to publish, in all: as it is documented, and as Pub/Sub names it where it refuses one. */
const MAX_REQUEST_BYTES = 10_000_000;
const MAX_REQUEST_BYTES_IN_ERRORS = 10 * 1024 * 1024;
/** The topic's name, and what stands around one message. */
const REQUEST_OVERHEAD_BYTES = 512;
/** Tags and lengths, or quotes. */
const ATTRIBUTE_OVERHEAD_BYTES = 10;

type Attributes = Readonly<Record<string, string>>;

/**
 * Both, the added ones where there is room, in their order: a message with too many attributes, or too large with them,
 * would be refused for ever.
 */
export function withAttributes(kept: Attributes, added: Attributes, dataBytes: number): Attributes {
  const together: Record<string, string> = { ...kept };
  let room = roomBytes(kept, dataBytes);
  for (const [name, value] of Object.entries(added)) {
    const isNew = !Object.hasOwn(kept, name);
    if (isNew && Object.keys(together).length >= MAX_ATTRIBUTES) continue;
    const growth = attributeBytes(name, value) - (isNew ? 0 : attributeBytes(name, kept[name]));
    if (growth > room) continue;
    together[name] = value;
    room -= growth;
  }
  return together;
}

/** What an added text may have. Where the room is small, a quarter of it: the first must not leave others out. */
export function maxTextBytes(kept: Attributes, dataBytes: number): number {
  return Math.min(MAX_ATTRIBUTE_BYTES, Math.floor(roomBytes(kept, dataBytes) / 4));
}

function roomBytes(kept: Attributes, dataBytes: number): number {
  const entries = Object.entries(kept);
  const came = entries.reduce((sum, [name, value]) => sum + attributeBytes(name, value), dataBytes);
  // Without what is around it, so that there is no doubt: what came was published, and shows which limit counts.
  const isAboveDocumented = came - entries.length * ATTRIBUTE_OVERHEAD_BYTES > MAX_REQUEST_BYTES;
  const largest = isAboveDocumented ? MAX_REQUEST_BYTES_IN_ERRORS : MAX_REQUEST_BYTES;
  return Math.max(0, largest - REQUEST_OVERHEAD_BYTES - came);
}

function attributeBytes(name: string, value: unknown): number {
  return utf8Bytes(name) + utf8Bytes(String(value)) + ATTRIBUTE_OVERHEAD_BYTES;
}
