import { pictureFrom, pngFrom } from './png.ts';
import { sharpened, sharpness } from './sharpen.ts';

interface Downloaded {
  readonly png: string;
}

/** Sharpens the picture, and measures the sharpness before and after. AMOUNT is set in actors.yaml. */
export function enhanceImage(payload: Downloaded) {
  const before = pictureFrom(Buffer.from(payload.png, 'base64'));
  const after = sharpened(before, Number(process.env['AMOUNT'] ?? 1));
  return {
    ...payload,
    png: pngFrom(after).toString('base64'),
    sharpness: { before: sharpness(before), after: sharpness(after) },
  };
}
