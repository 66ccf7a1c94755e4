import { expect, test } from 'vitest';
import { DEV_WITH_GATEWAY, LETTERS, manifestIn, templateOf } from './a-mesh-stack.ts';

/** The whole template, so that a change of the CDK or of ours is seen. What is hashed is erased. */

test('the stack of a mesh', async () => {
  const text = JSON.stringify(
    templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY }),
    undefined,
    1,
  )
    .replaceAll(/[0-9a-f]{64}/g, 'HASH')
    .replaceAll(/(?<=[A-Za-z])(?:[0-9A-F]{8})+(?=\b|[A-Z])/g, '');
  await expect(`${text}\n`).toMatchFileSnapshot('snapshots/letters.template');
});
