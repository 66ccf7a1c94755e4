import { expect, test } from 'vitest';
import { DEV_WITH_GATEWAY, LETTERS, manifestIn, templateOf } from './a-mesh-stack.ts';

/** The complete template, so that changes of the CDK or of this project are visible. Hashes are removed. */

test('the stack of a mesh matches the snapshot', async () => {
  const text = JSON.stringify(
    templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY }),
    undefined,
    1,
  )
    .replaceAll(/[0-9a-f]{64}/g, 'HASH')
    .replaceAll(/(?<=[A-Za-z])(?:[0-9A-F]{8})+(?=\b|[A-Z])/g, '');
  await expect(`${text}\n`).toMatchFileSnapshot('snapshots/letters.template');
});
