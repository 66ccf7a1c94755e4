import { describe, expect, it } from 'vitest';
import { type Office, openOffice } from './a-cli.ts';

/**
 * Stores that take a connection and never answer: whoever asks at night is told, and does not wait for ever. Side by
 * side, each with stores of its own, because giving up takes a minute.
 */
describe.concurrent('asya, where a store is silent', { timeout: 300_000 }, () => {
  it('says of the table that it does not answer, and ends with 1', () =>
    inOffice(async (office) => {
      const { scene, type } = await office.desk();
      await scene.fail(['e-1']);
      await office.engines.dynamoDb.hush();
      const run = await type('failures');
      await office.engines.dynamoDb.open();
      expect(run).toMatchObject({ status: 1, out: '' });
      expect(run.err).toMatch(/^asya: the table does not answer as it should: TimeoutError/);
      expect((await type('failures', 'list')).out).toContain('e-1');
    }));

  it('replays nothing without the archive, notes nothing, and ends with 1', () =>
    inOffice(async (office) => {
      const { scene, type } = await office.desk();
      await scene.fail(['e-1']);
      await office.engines.s3.hush();
      const run = await type('replay', 'e-1', '--go');
      await office.engines.s3.open();
      expect(run).toMatchObject({ status: 1, out: '' });
      expect(run.err).toMatch(/the archive does not answer as it should: TimeoutError.*0 sent.*1 left/);
      expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
    }));
});

async function inOffice(act: (office: Office) => Promise<void>): Promise<void> {
  const office = await openOffice();
  try {
    await act(office);
  } finally {
    await office.close();
  }
}
