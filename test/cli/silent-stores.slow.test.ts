import { describe, expect, it } from 'vitest';
import { type Backend, startBackend } from './operator-fixture.ts';

/**
 * Stores that accept a connection and never answer. The tests run concurrently, each with its own stores, because a
 * timeout takes a minute.
 */
describe.concurrent('asya, if a store does not answer', { timeout: 300_000 }, () => {
  it('reports that the table does not answer, and exits with 1', () =>
    withBackend(async (backend) => {
      const { scene, cli } = await backend.newMesh();
      await scene.fail(['e-1']);
      await backend.engines.dynamoDb.hang();
      const run = await cli('failures');
      await backend.engines.dynamoDb.recover();
      expect(run).toMatchObject({ status: 1, out: '' });
      expect(run.err).toMatch(/^asya: DynamoDB request failed: TimeoutError/);
      expect((await cli('failures', 'list')).out).toContain('e-1');
    }));

  it('replays nothing without the archive, records no replay, and exits with 1', () =>
    withBackend(async (backend) => {
      const { scene, cli } = await backend.newMesh();
      await scene.fail(['e-1']);
      await backend.engines.s3.hang();
      const run = await cli('replay', 'e-1', '--go');
      await backend.engines.s3.recover();
      expect(run).toMatchObject({ status: 1, out: '' });
      expect(run.err).toMatch(/S3 request failed: TimeoutError.*0 sent.*1 left/);
      expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
    }));
});

async function withBackend(act: (backend: Backend) => Promise<void>): Promise<void> {
  const backend = await startBackend();
  try {
    await act(backend);
  } finally {
    await backend.close();
  }
}
