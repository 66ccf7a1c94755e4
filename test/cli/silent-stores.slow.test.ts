import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Office, openOffice } from './a-desk.ts';

/** Stores that take a connection and never answer: whoever asks at night is told, and does not wait for ever. */

let office: Office;
beforeAll(async () => {
  office = await openOffice();
});
afterAll(() => office.close());

describe('where the table is silent', () => {
  it('asya failures says so and ends with 1', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['e-1']);
    await office.engines.dynamoDb.hush();
    const run = await type('failures');
    await office.engines.dynamoDb.open();
    expect(run).toMatchObject({ status: 1, out: '' });
    expect(run.err).toMatch(/^asya: the table does not answer as it should: TimeoutError/);
    expect((await type('failures', 'list')).out).toContain('e-1');
  });
});

describe('where the archive is silent', () => {
  it('asya replay sends nothing, notes nothing and ends with 1', async () => {
    const { scene, type } = await office.desk();
    await scene.fail(['e-1']);
    await office.engines.s3.hush();
    const run = await type('replay', 'e-1', '--go');
    await office.engines.s3.open();
    expect(run).toMatchObject({ status: 1, out: '' });
    expect(run.err).toMatch(/the archive does not answer as it should: TimeoutError.*0 sent.*1 left/);
    expect((await scene.entriesOf('e-1'))[0]?.replays).toEqual([]);
  });
});
