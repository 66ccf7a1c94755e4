import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { downloadImage } from '../../examples/image-enhance/download-image.ts';
import { enhanceImage } from '../../examples/image-enhance/enhance-image.ts';
import { generated } from '../../examples/image-enhance/generate.ts';
import { NotAPicture, type Picture, pictureFrom, pngFrom } from '../../examples/image-enhance/png.ts';
import { sharpened } from '../../examples/image-enhance/sharpen.ts';
import { uploadImage } from '../../examples/image-enhance/upload-image.ts';
import { matchPolicy } from '../../lib/core/policy/policy-match.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { LOCAL_REGION } from '../../lib/local/engines/engines.ts';
import { ensureBuckets } from '../../lib/local/engines/local-stores.ts';
import { startSqs } from '../../lib/local/engines/sqs-engine.ts';
import { localHandlerAccess } from '../../lib/local/mesh/handler-access.ts';
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

/** Starts a server. Returns its URL. */
async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Loads the handlers with the variables that `asya dev` gives them for the embedded S3. */
async function handlersWith(endpoint: string) {
  const access = { permissions: [{ actions: ['s3:*'], resources: ['*'] }], buckets: ['pictures'] };
  const { env = {} } = localHandlerAccess({ ...access, localAws: 'embedded' }, endpoint, {});
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value ?? undefined);
  vi.stubEnv('AWS_REGION', LOCAL_REGION);
  vi.stubEnv('AWS_MAX_ATTEMPTS', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  // The client of the loaded module keeps its endpoint.
  vi.resetModules();
  const { downloadImage: download } = await import('../../examples/image-enhance/download-image.ts');
  const { uploadImage: upload } = await import('../../examples/image-enhance/upload-image.ts');
  return { download, upload };
}

/** An embedded S3 with the bucket `pictures`. */
async function aBucket() {
  const engine = await startSqs(undefined, 0);
  onTestFinished(() => engine.close());
  const { endpoint } = engine;
  await ensureBuckets(endpoint, ['pictures']);
  const s3 = new S3Client({
    endpoint,
    region: LOCAL_REGION,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  onTestFinished(() => s3.destroy());
  const Bucket = 'pictures';
  return {
    ...(await handlersWith(endpoint)),
    put: async (Key: string, Body: Buffer) => {
      await s3.send(new PutObjectCommand({ Bucket, Key, Body }));
    },
    get: async (Key: string) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    keys: async () => {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
      return Contents.map(({ Key = '' }) => Key);
    },
  };
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

  it('reads data: URLs', async () => {
    const png = pngFrom(generated(12, 8)).toString('base64');
    const url = `data:image/png;base64,${png}`;
    expect(await downloadImage({ url })).toEqual({ url, width: 12, height: 8, png });
  });

  it('reads objects below incoming/', async () => {
    const { put, download } = await aBucket();
    const png = pngFrom(generated(12, 8));
    await put('incoming/a.png', png);
    expect(await download({ url: 'bucket:incoming/a.png' })).toMatchObject({
      width: 12,
      png: png.toString('base64'),
    });
  });

  it('does not retry an object that does not exist, is too large or is not a picture', async () => {
    const { put, download } = await aBucket();
    await put('incoming/large.png', Buffer.alloc(700_001));
    await put('incoming/text.png', Buffer.from('hello'));
    for (const name of ['missing', 'large', 'text']) {
      const call = () => download({ url: `bucket:incoming/${name}.png` });
      expect(await policyFor('download-image', call)).toBe('noRetry');
    }
  });

  it('reads no files and no web addresses, also with a picture there', async () => {
    const png = pngFrom(generated(12, 8));
    const folder = aFolder({ 'a.png': png });
    const requests: string[] = [];
    const web = await startServer((request, response) => {
      requests.push(request.url ?? '');
      response.end(png);
    });
    for (const url of [pathToFileURL(join(folder, 'a.png')).href, join(folder, 'a.png'), `${web}/a.png`])
      expect(await policyFor('download-image', () => downloadImage({ url }))).toBe('noRetry');
    expect(requests).toEqual([]);
  });

  it.each([
    'nowhere',
    'generate:0x9',
    'generate:9',
    'ftp://example.org/a.png',
    'data:,hello',
    'data:',
    'data:image/png;base64,aGVsbG8=',
    'bucket:enhanced/a.png',
    'bucket:incoming/../enhanced/a.png',
    'bucket:incoming/a.png?versionId=1',
    '',
  ])('does not retry "%s"', async (url) => {
    expect(await policyFor('download-image', () => downloadImage({ url }))).toBe('noRetry');
  });

  it.each([
    [403, 'AccessDenied', 'noRetry'],
    [503, 'SlowDown', 'default'],
    [500, 'InternalError', 'default'],
  ])('uses the right policy if S3 answers %i %s: %s', async (status, code, policy) => {
    const endpoint = await startServer((_, response) =>
      response.writeHead(status).end(`<Error><Code>${code}</Code><Message>no</Message></Error>`),
    );
    const { download } = await handlersWith(endpoint);
    expect(await policyFor('download-image', () => download({ url: 'bucket:incoming/a.png' }))).toBe(policy);
  });

  it('retries if S3 does not answer', async () => {
    // Nothing listens on port 1.
    const { download } = await handlersWith('http://127.0.0.1:1');
    expect(await policyFor('download-image', () => download({ url: 'bucket:incoming/a.png' }))).toBe(
      'default',
    );
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
  it('writes the same object when delivered twice', async () => {
    const { keys, get, upload } = await aBucket();
    const png = pngFrom(generated(12, 8));
    const payload = { url: 'generate:12x8', png: png.toString('base64') };
    const [first, second] = [await upload(payload), await upload(payload)];
    expect(first).toEqual({
      url: 'generate:12x8',
      bucket: 'pictures',
      key: expect.stringMatching(/^enhanced\/[0-9a-f]{16}\.png$/),
    });
    expect(second).toEqual(first);
    expect(await keys()).toEqual([first.key]);
    expect(await get(first.key)).toEqual(png);
  });

  it('reports that the bucket is not declared', async () => {
    vi.stubEnv('BUCKET_PICTURES', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(uploadImage({ png: '' })).rejects.toThrow('declare "buckets: [pictures]"');
  });
});
