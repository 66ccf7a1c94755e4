import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** Rows from top to bottom, one byte per channel. Channels: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly bytes: Uint8Array;
}

/** A retry cannot help: see the rules in actors.yaml. */
export class NotAPicture extends Error {}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** PNG's color type by number of channels. */
const COLOR_TYPES = [undefined, 0, 4, 2, 6];
const MAX_PIXELS = 4_000_000;

export function pngFrom({ width, height, channels, bytes }: Picture): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOR_TYPES[channels] ?? 0, 0, 0, 0], 8);
  // Each row starts with its filter type: 0, unfiltered.
  const stride = width * channels;
  const rows = Buffer.alloc(height * (stride + 1));
  for (let y = 0; y < height; y++)
    rows.set(bytes.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')]);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Reads the common kind of PNG: 8 bits, no palette, not interlaced. */
export function pictureFrom(png: Buffer): Picture {
  if (!png.subarray(0, 8).equals(SIGNATURE) || png.length < 33) throw new NotAPicture('not a PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const [bits, colorType = -1, , , interlaced] = png.subarray(24, 29);
  const channels = COLOR_TYPES.indexOf(colorType);
  if (bits !== 8 || channels < 1 || interlaced !== 0)
    throw new NotAPicture(
      'the PNG has a palette, is interlaced, or does not have 8 bits per channel; save it as plain RGB',
    );
  if (width * height > MAX_PIXELS || width * height === 0)
    throw new NotAPicture(`the picture has ${width} × ${height} pixels; expected 1 to ${MAX_PIXELS}`);
  return { width, height, channels, bytes: unfiltered(pixelData(png), width * channels, height, channels) };
}

function pixelData(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(data);
  }
  try {
    return inflateSync(Buffer.concat(parts), { maxOutputLength: MAX_PIXELS * 5 });
  } catch (error) {
    throw new NotAPicture('the pixels cannot be decompressed', { cause: error });
  }
}

/** Reverses the filters: a row can be stored as differences to the bytes to the left, above, or both. */
function unfiltered(data: Buffer, stride: number, height: number, channels: number): Uint8Array {
  if (data.length < height * (stride + 1)) throw new NotAPicture('the pixel data ends before the last row');
  const bytes = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)] ?? 0;
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x < channels ? 0 : (bytes[at - channels] ?? 0);
      const above = y === 0 ? 0 : (bytes[at - stride] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (bytes[at - stride - channels] ?? 0);
      const guess = [0, left, above, (left + above) >> 1, nearest(left, above, corner)][filter] ?? 0;
      bytes[at] = (data[y * (stride + 1) + 1 + x] ?? 0) + guess;
    }
  }
  return bytes;
}

function nearest(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
