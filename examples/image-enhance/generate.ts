import type { Picture } from './png.ts';
import { blurred } from './sharpen.ts';

/** A test picture: discs on a color gradient, blurred and slightly noisy. The same size always gives the same picture. */
export function generated(width: number, height: number): Picture {
  const bytes = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const isDisc = Math.hypot((x % 24) - 12, (y % 24) - 12) < 9;
      const slope = (155 * (x + y)) / (width + height);
      bytes.set(isDisc ? [240, 210, 60] : [40, slope, 200 - slope], (y * width + x) * 3);
    }
  }
  const sharp = { width, height, channels: 3, bytes };
  return { ...sharp, bytes: blurred(blurred(sharp)).bytes.map((value, at) => clamped(value + noise(at))) };
}

function clamped(value: number): number {
  return Math.max(0, Math.min(255, value));
}

/** -3 to 3, depending only on the position. */
function noise(at: number): number {
  return (((at * 2_654_435_761) >>> 13) % 7) - 3;
}
