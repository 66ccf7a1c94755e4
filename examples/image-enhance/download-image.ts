import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generated } from './generate.ts';
import { pictureFrom, pngFrom } from './png.ts';

/** The caller's mistake: a retry cannot help. */
class BadUrl extends Error {}
/** A temporary problem of the network or the server: a retry may help. */
class NetworkError extends Error {
  readonly status: number | undefined;
  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/** Downloads and checks the picture. It is part of the envelope, so it has to be small. */
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
      return readLocal(url, () => readFile(fileURLToPath(url)));
    case 'data:':
      return readLocal(url, async () => Buffer.from(await (await fetch(url)).arrayBuffer()));
    case 'http:':
    case 'https:':
      return fromWeb(url);
    default:
      throw new BadUrl(
        `"${url}" is not a supported URL; try generate:96x64, file:///..., data:... or https://...`,
      );
  }
}

/** Reads without the network, so an error is permanent. */
async function readLocal(url: string, read: () => Promise<Buffer>): Promise<Buffer> {
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
    // The rules http:429 and http:5xx match the error's `status`.
    const message = `"${url}" answers ${response.status}`;
    throw response.status === 429 || response.status >= 500
      ? new NetworkError(message, response.status)
      : new BadUrl(message);
  } catch (error) {
    if (error instanceof BadUrl || error instanceof NetworkError) throw error;
    throw new NetworkError(`"${url}" does not answer`, undefined, error);
  }
}
