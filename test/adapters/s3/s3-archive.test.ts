import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import type { Archive } from '../../../lib/ports/archive.ts';
import { NOW } from '../../core/a-delivery.ts';
import { aFailed } from '../../core/an-end.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../../support/embedded-stores.ts';

let embedded: EmbeddedStores;
let archive: Archive;
beforeAll(async () => {
  embedded = await startEmbeddedStores();
  ({ archive } = embedded.storesWith());
});
afterAll(() => embedded.close());

describe('the archive on S3', () => {
  it.each([
    ['plain', '{"n":1}'],
    ['nothing', ''],
    ['characters of every kind', 'ü \u{1F600} \u0001 \r\n "\\u0041" 9007199254740993'],
    ['a megabyte', JSON.stringify({ raw: 'ü'.repeat(500_000) })],
  ])('returns a stored text unchanged: %s', async (name, text) => {
    expect(await archive.put(`text/${name}`, text)).toEqual({ ok: true });
    expect(await archive.get(`text/${name}`)).toEqual({ ok: true, text });
    expect(await archive.has(`text/${name}`)).toEqual({ ok: true, exists: true });
  });

  it.each(['e-1', 'a/b', 'a b', '..', 'a+b', 'a%2Fb', 'ü', '\ud800', 'e"&<>?#', 'n'.repeat(500)])(
    'stores an envelope with the id %j under its own key',
    async (id) => {
      const headers = { 'x-asya-replay': 'r-1' };
      const { archiveKey } = recordOf(aFailed({ id, headers }), NOW, deriveId);
      await archive.put(archiveKey, id);
      expect(await archive.get(archiveKey)).toEqual({ ok: true, text: id.toWellFormed() });
      expect(await embedded.keys()).toContain(archiveKey);
    },
  );

  it('has nothing under other keys', async () => {
    await archive.put('there/e-1.json', '1');
    for (const key of ['there', 'there/', 'there/e-1', 'elsewhere/e-1.json']) {
      expect(await archive.has(key)).toEqual({ ok: true, exists: false });
      expect(await archive.get(key)).toEqual({ ok: true, text: undefined });
    }
  });

  it('overwrites an existing object', async () => {
    await archive.put('twice', 'one');
    await archive.put('twice', 'two');
    expect(await archive.get('twice')).toEqual({ ok: true, text: 'two' });
  });

  it('removes an object, and ignores a missing one', async () => {
    await archive.put('gone', '1');
    expect(await archive.remove('gone')).toEqual({ ok: true });
    expect(await archive.has('gone')).toEqual({ ok: true, exists: false });
    expect(await archive.remove('gone')).toEqual({ ok: true });
  });
});

describe('encryption', () => {
  it("uses S3's own keys by default", async () => {
    await archive.put('encrypted/own', '1');
    expect(headersOfPut('encrypted/own')).toMatch(/^x-amz-server-side-encryption: AES256$/im);
  });

  it('uses the configured key', async () => {
    const named = embedded.storesWith({ kmsKey: 'alias/envelopes' });
    expect(await named.archive.put('encrypted/named', '1')).toEqual({ ok: true });
    const headers = headersOfPut('encrypted/named');
    expect(headers).toMatch(/^x-amz-server-side-encryption: aws:kms$/im);
    expect(headers).toMatch(/^x-amz-server-side-encryption-aws-kms-key-id: alias\/envelopes$/im);
  });

  function headersOfPut(key: string): string {
    const received = embedded.s3.received();
    const request = received.slice(received.lastIndexOf(`PUT /${embedded.bucket}/${key}`));
    expect(request).toMatch(/^PUT /);
    return request.slice(0, request.indexOf('\r\n\r\n')).replaceAll('\r\n', '\n');
  }
});

describe('a refused call returns a message', () => {
  it('if the bucket is missing', async () => {
    const { archive: nowhere } = embedded.storesWith({ bucket: 'no-such-bucket' });
    for (const reply of [await nowhere.put('k', '1'), await nowhere.get('k')]) {
      expect(reply).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/NoSuchBucket.*"no-such-bucket".*"k"/),
      });
    }
  });

  it('if the store is down; it works again once the store is back', async () => {
    await archive.put('outage', 'before');
    await embedded.s3.goDown();
    try {
      for (const reply of await Promise.all([
        archive.put('outage', 'during'),
        archive.get('outage'),
        archive.has('outage'),
        archive.remove('outage'),
      ])) {
        expect(reply).toMatchObject({ ok: false, problem: expect.stringContaining('bucket "envelopes"') });
      }
    } finally {
      await embedded.s3.recover();
    }
    expect(await archive.get('outage')).toEqual({ ok: true, text: 'before' });
  });
});
