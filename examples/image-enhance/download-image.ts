import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generated } from './generate.ts';
import { pictureFrom, pngFrom } from './png.ts';

/** The caller's mistake: another attempt would not help. */
class BadUrl extends Error {}
/** Somebody else's trouble, which may pass. */
class NetworkError extends Error {
  readonly status: number | undefined;
  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** Fetches the picture and looks whether it is one. It travels in the envelope, so it has to be a small one. */
export async function downloadImage({ url }: { readonly url?: string }) {
  const png = await bytesAt(url ?? '');
  const { width, height } = pictureFrom(png);
  return { url, width, height, png: png.toString('base64') };
}

async function bytesAt(url: string): Promise<Buffer> {
  const size = /^generate:([1-9]\d{0,2})x([1-9]\d{0,2})$/.exec(url);
  if (size !== null) return pngFrom(generated(Number(size[1]), Number(size[2])));
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: '' };
  switch (protocol) {
    case 'file:':
      return asAsked(url, () => readFile(fileURLToPath(url)));
    case 'data:':
      return asAsked(url, async () => Buffer.from(await (await fetch(url)).arrayBuffer()));
    case 'http:':
    case 'https:':
      return fromWeb(url);
    default:
      throw new BadUrl(
        `"${url}" is no url that is known here; try generate:96x64, file:///..., data:... or https://...`,
      );
  }
}

/** No network is between: what cannot be read now never can. */
async function asAsked(url: string, read: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await read();
  } catch (error) {
    throw new BadUrl(`"${url.slice(0, 100)}" cannot be read`, { cause: error });
  }
}

async function fromWeb(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url);
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    // The error's `status` is what the rules http:429 and http:5xx look at.
    const words = `"${url}" answers ${response.status}`;
    throw response.status === 429 || response.status >= 500
      ? new NetworkError(words, response.status)
      : new BadUrl(words);
  } catch (error) {
    if (error instanceof BadUrl || error instanceof NetworkError) throw error;
    throw new NetworkError(`"${url}" does not answer`, undefined, error);
  }
}
