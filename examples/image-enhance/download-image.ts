import { generated } from './generate.ts';
import { readPicture } from './pictures-bucket.ts';
import { pictureFrom, pngFrom } from './png.ts';

/** The caller's mistake: a retry cannot help. */
class BadUrl extends Error {}

/** Reads and checks the picture. It is part of the envelope, so it has to be small. */
export async function downloadImage({ url }: { readonly url?: string }) {
  const png = await bytesAt(url ?? '');
  const { width, height } = pictureFrom(png);
  return { url, width, height, png: png.toString('base64') };
}

/**
 * Whoever can call the flow chooses the URL. That is why it names neither a host nor a file: a handler that fetches any
 * URL can be made to read what only this machine can reach.
 */
async function bytesAt(url: string): Promise<Buffer> {
  const [, width, height] = /^generate:([1-9]\d{0,2})x([1-9]\d{0,2})$/.exec(url) ?? [];
  if (width !== undefined) return pngFrom(generated(Number(width), Number(height)));
  const [, base64] = /^data:image\/png;base64,([A-Za-z0-9+/]+={0,2})$/.exec(url) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  const [, key] = /^bucket:(incoming\/[\w-]{1,100}\.png)$/.exec(url) ?? [];
  if (key !== undefined) return readPicture(key);
  throw new BadUrl(
    `"${url.slice(0, 100)}" is not a supported URL; try generate:96x64, data:image/png;base64,... or bucket:incoming/NAME.png`,
  );
}
