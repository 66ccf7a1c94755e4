import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pictureFrom } from '../../examples/image-enhance/png.ts';
import { EXAMPLES, type ExampleMesh, startExample } from './example-mesh.ts';

let example: ExampleMesh;
beforeAll(async () => {
  example = await startExample(join(EXAMPLES, 'image-enhance'));
}, 120_000);
afterAll(() => example?.close());

it('uploads the picture to the embedded S3', { timeout: 120_000 }, async () => {
  const [end] = await example.ends(
    await example.send('image-enhance', { url: 'generate:96x64' }),
    1,
    110_000,
  );
  const payload = end?.envelope.payload as { readonly bucket: string; readonly key: string };
  expect(end).toMatchObject({
    folder: 'succeeded',
    envelope: { payload: { bucket: 'pictures', width: 96 } },
  });
  const response = await fetch(`${example.mesh.variables['ASYA_S3_ENDPOINT']}/pictures/${payload.key}`);
  expect(pictureFrom(Buffer.from(await response.arrayBuffer()))).toMatchObject({ width: 96, height: 64 });
  expect(example.warnings).toEqual([]);
});
