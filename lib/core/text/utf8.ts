/** Node and browsers provide it, but the core compiles without their types, so it is declared here. It is pure. */
declare const TextDecoder: new (
  label: 'utf-8',
  options: { readonly fatal: boolean; readonly ignoreBOM: boolean },
) => { decode(bytes: Uint8Array): string };

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text, or undefined if the bytes are not UTF-8. A byte order mark is kept: it is part of the body. */
export function textFromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

const MAX_BYTES_PER_UNIT = 3;

/** Counts the bytes of a text as UTF-8. */
export type CountBytes = (text: string) => number;

/** Whether the text needs more than `limit` bytes as UTF-8. Counts the bytes only if the text's length is not enough. */
export function exceedsUtf8Bytes(text: string, limit: number, countBytes: CountBytes = utf8Bytes): boolean {
  if (text.length > limit) return true;
  if (text.length * MAX_BYTES_PER_UNIT <= limit) return false;
  return countBytes(text) > limit;
}

/** The number of bytes of the text as UTF-8. A lone surrogate counts as the replacement character (three bytes). */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) bytes += unitBytes(text, index);
  return bytes;
}

/** The bytes of one UTF-16 unit. A surrogate pair takes four bytes, two for each half. */
function unitBytes(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  const isPaired =
    (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) ||
    (isLowSurrogate(unit) && isHighSurrogate(text.charCodeAt(index - 1)));
  return isPaired ? 2 : 3;
}

/** The longest beginning of the text within `limit` bytes. Characters are not split. */
export function headWithinUtf8(text: string, limit: number): string {
  let end = 0;
  for (let bytes = unitBytes(text, 0); end < text.length && bytes <= limit; bytes += unitBytes(text, end))
    end++;
  if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end)))
    end--;
  return text.slice(0, end);
}

/** The longest ending of the text within `limit` bytes. Characters are not split. */
export function tailWithinUtf8(text: string, limit: number): string {
  let start = text.length;
  for (
    let bytes = unitBytes(text, start - 1);
    start > 0 && bytes <= limit;
    bytes += unitBytes(text, start - 1)
  )
    start--;
  if (start > 0 && isHighSurrogate(text.charCodeAt(start - 1)) && isLowSurrogate(text.charCodeAt(start)))
    start++;
  return text.slice(start);
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function base64FromBytes(bytes: Uint8Array): string {
  let text = '';
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index;
    const word = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0);
    text += BASE64.charAt(word >> 18) + BASE64.charAt((word >> 12) & 63);
    text += left > 1 ? BASE64.charAt((word >> 6) & 63) : '=';
    text += left > 2 ? BASE64.charAt(word & 63) : '=';
  }
  return text;
}
