import type { Picture } from './png.ts';

/** 3 × 3 box blur. Pixels outside the picture have the value of the nearest edge pixel. */
export function blurred(picture: Picture): Picture {
  const { width, height, channels, bytes } = picture;
  const out = new Uint8Array(bytes.length);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (let channel = 0; channel < channels; channel++) {
        let sum = 0;
        for (let dy = -1; dy <= 1; dy++)
          for (let dx = -1; dx <= 1; dx++) sum += byteAt(picture, x + dx, y + dy, channel);
        out[(y * width + x) * channels + channel] = Math.round(sum / 9);
      }
    }
  }
  return { ...picture, bytes: out };
}

/** Unsharp mask: adds the difference to the blurred picture, which emphasizes edges. */
export function sharpened(picture: Picture, amount: number): Picture {
  const soft = blurred(picture).bytes;
  const hasAlpha = picture.channels % 2 === 0;
  const bytes = picture.bytes.map((value, at) => {
    if (hasAlpha && at % picture.channels === picture.channels - 1) return value;
    return Math.max(0, Math.min(255, Math.round(value + amount * (value - (soft[at] ?? 0)))));
  });
  return { ...picture, bytes };
}

/** The variance of the Laplacian, a common measure of sharpness. Higher is sharper. */
export function sharpness(picture: Picture): number {
  const { width, height } = picture;
  let [sum, squares] = [0, 0];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const around =
        byteAt(picture, x - 1, y, 0) +
        byteAt(picture, x + 1, y, 0) +
        byteAt(picture, x, y - 1, 0) +
        byteAt(picture, x, y + 1, 0);
      const difference = 4 * byteAt(picture, x, y, 0) - around;
      sum += difference;
      squares += difference * difference;
    }
  }
  const mean = sum / (width * height);
  return Math.round((squares / (width * height) - mean * mean) * 10) / 10;
}

function byteAt({ width, height, channels, bytes }: Picture, x: number, y: number, channel: number): number {
  const column = Math.max(0, Math.min(width - 1, x));
  const row = Math.max(0, Math.min(height - 1, y));
  return bytes[(row * width + column) * channels + channel] ?? 0;
}
