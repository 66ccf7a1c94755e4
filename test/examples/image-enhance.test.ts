import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { downloadImage } from '../../examples/image-enhance/download-image.ts';
import { enhanceImage } from '../../examples/image-enhance/enhance-image.ts';
import { generated } from '../../examples/image-enhance/generate.ts';
import { NotAPicture, type Picture, pictureFrom, pngFrom } from '../../examples/image-enhance/png.ts';
import { sharpened } from '../../examples/image-enhance/sharpen.ts';
import { uploadImage } from '../../examples/image-enhance/upload-image.ts';
import { matchPolicy } from '../../lib/core/policy/policy-match.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { errorObjectFrom } from '../../runtimes/node/error-object.ts';
import { aFolder } from '../support/a-folder.ts';
import { EXAMPLES, readExample } from './example-mesh.ts';

/** The policy of the manifest for the error that a call throws. */
async function policyFor(actor: string, call: () => Promise<unknown>): Promise<string | undefined> {
  const spec = readExample(join(EXAMPLES, 'image-enhance')).actors.find(({ name }) => name === actor);
  const thrown = await call().then(
    () => undefined,
    (error: unknown) => errorObjectFrom(error),
  );
  if (spec === undefined || thrown === undefined) throw new Error('nothing was thrown');
  const { type, mro, http_status: httpStatus } = thrown;
  return matchPolicy(spec.resiliency, { type, mro, ...defined({ httpStatus }) })?.policyName;
}

/** Starts a server that answers with a status. Returns its URL. */
async function startServer(status: number, body: Buffer = Buffer.alloc(0)): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe('a picture', () => {
  it.each([1, 2, 3, 4])('with %i channels survives a round trip through PNG', (channels) => {
    const bytes = Uint8Array.from({ length: 5 * 3 * channels }, (_, at) => (at * 37) % 256);
    const picture: Picture = { width: 5, height: 3, channels, bytes };
    expect(pictureFrom(pngFrom(picture))).toEqual(picture);
  });

  it('is read with every row filter', () => {
    const filters = [0, 1, 2, 3, 4];
    const rows = filters.flatMap((filter) => [filter, 10, 20, 30, 40]);
    const { bytes } = pictureFrom(pngOf(4, filters.length, rows));
    const expected = [
      [10, 20, 30, 40],
      [10, 30, 60, 100],
      [20, 50, 90, 140],
      [20, 55, 102, 161],
      [30, 75, 132, 201],
    ];
    expect([...bytes]).toEqual(expected.flat());
  });

  it.each([
    ['text', Buffer.from('hello')],
    ['a PNG of 16 bits', patched(24, 16)],
    ['a PNG with a palette', patched(25, 3)],
    ['an interlaced PNG', patched(28, 1)],
    ['a PNG without pixels', patched(19, 0)],
    ['a truncated PNG', pngFrom(generated(9, 9)).subarray(0, 60)],
    ['a PNG with missing rows', patched(23, 200)],
    ['a PNG with a huge width', patched(16, 255)],
  ])('is not %s', (_title, bytes) => {
    expect(() => pictureFrom(bytes)).toThrow(NotAPicture);
  });
});

/** A small gray PNG with these rows. Each starts with its filter type. */
function pngOf(width: number, height: number, rows: readonly number[]): Buffer {
  const png = pngFrom({ width, height, channels: 1, bytes: new Uint8Array(width * height) });
  const data = deflateSync(Buffer.from(rows));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([png.subarray(0, 33), length, Buffer.from('IDAT'), data, Buffer.alloc(4)]);
}

/** A valid PNG with one changed byte in its header. */
function patched(at: number, value: number): Buffer {
  const png = pngFrom(generated(9, 9));
  png[at] = value;
  return png;
}

describe('download-image', () => {
  it('generates pictures of any size', async () => {
    expect(await downloadImage({ url: 'generate:96x64' })).toMatchObject({ width: 96, height: 64 });
    expect(await downloadImage({ url: 'generate:1x1' })).toMatchObject({ width: 1, height: 1 });
  });

  it('reads file:, data: and http: URLs', async () => {
    const png = pngFrom(generated(12, 8));
    const folder = aFolder({ 'a picture.png': png });
    const urls = [
      pathToFileURL(join(folder, 'a picture.png')).href,
      `data:image/png;base64,${png.toString('base64')}`,
      await startServer(200, png),
    ];
    for (const url of urls)
      expect(await downloadImage({ url })).toEqual({
        url,
        width: 12,
        height: 8,
        png: png.toString('base64'),
      });
  });

  it.each([
    'nowhere',
    'generate:0x9',
    'generate:9',
    'ftp://example.org/a.png',
    'file:///not/there.png',
    'data:,hello',
    'data:',
    '',
  ])('does not retry "%s"', async (url) => {
    expect(await policyFor('download-image', () => downloadImage({ url }))).toBe('noRetry');
  });

  it.each([
    [404, 'noRetry'],
    [403, 'noRetry'],
    [429, 'network'],
    [500, 'network'],
    [503, 'network'],
  ])('uses the right policy after status %i: %s', async (status, policy) => {
    const url = await startServer(status);
    expect(await policyFor('download-image', () => downloadImage({ url }))).toBe(policy);
  });

  it('retries if the server does not answer', async () => {
    // Nothing listens on port 1.
    const url = 'http://127.0.0.1:1/a.png';
    expect(await policyFor('download-image', () => downloadImage({ url }))).toBe('network');
  });
});

describe('enhance-image', () => {
  it('sharpens the picture, measures it, and keeps the other fields', async () => {
    const downloaded = await downloadImage({ url: 'generate:96x64' });
    const { png, sharpness, ...rest } = enhanceImage(downloaded);
    expect(sharpness.after).toBeGreaterThan(sharpness.before * 1.5);
    expect(rest).toEqual({ url: 'generate:96x64', width: 96, height: 64 });
    expect(pictureFrom(Buffer.from(png, 'base64'))).toMatchObject({ width: 96, height: 64, channels: 3 });
  });

  it('does not change transparency, nor areas without edges', () => {
    const bytes = Uint8Array.from([9, 9, 9, 0, 9, 9, 9, 255, 9, 9, 9, 7]);
    expect(sharpened({ width: 3, height: 1, channels: 4, bytes }, 5).bytes).toEqual(bytes);
  });
});

describe('upload-image', () => {
  it('writes the same file when delivered twice', async () => {
    const folder = aFolder({});
    vi.stubEnv('PICTURES_FOLDER', join(folder, 'out'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const png = pngFrom(generated(12, 8));
    const payload = { url: 'generate:12x8', png: png.toString('base64') };
    const [first, second] = [await uploadImage(payload), await uploadImage(payload)];
    expect(first).toEqual({ url: 'generate:12x8', path: expect.stringMatching(/out\/[0-9a-f]{16}\.png$/) });
    expect(second).toEqual(first);
    expect(readFileSync(first.path)).toEqual(png);
  });

  it('is retried if the folder is not writable', async () => {
    vi.stubEnv('PICTURES_FOLDER', join(aFolder({ file: '' }), 'file'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await policyFor('upload-image', () => uploadImage({ png: '' }))).toBe('default');
  });
});
