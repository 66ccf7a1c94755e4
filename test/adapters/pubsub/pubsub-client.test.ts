import { afterEach, expect, it, vi } from 'vitest';
import { pubsubClient } from '../../../lib/adapters/pubsub/pubsub-client.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it('rejects missing credentials with a message that says what to set, without a stack', async () => {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', '/nowhere/key.json');
  const thrown: unknown = await pubsubClient({ projectId: 'shop' }).catch((error) => error);
  expect(thrown).toMatchObject({
    message: expect.stringMatching(
      /^no credentials for Pub\/Sub: .*\/nowhere\/key\.json.*; set GOOGLE_APPLICATION_CREDENTIALS, .*ASYA_PUBSUB_ENDPOINT to an emulator$/,
    ),
    stack: undefined,
  });
});
