import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exampleMesh } from '../../tools/example-mesh.ts';
import { SHOWN_COMMAND } from '../../tools/scaling-page.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { asyaAtNoon as asya } from './run-asya.ts';

const aMesh = () => aFolder(exampleMesh(ROOT));

describe('asya scale', () => {
  it('prints what docs/scaling.md shows', async () => {
    const folder = aMesh();
    const page = readFileSync(join(ROOT, 'docs/scaling.md'), 'utf8');
    const shown = [...page.matchAll(SHOWN_COMMAND)];
    expect(shown).toHaveLength(3);
    for (const [, , command = '', output] of shown) {
      const { status, out } = await asya(folder, ...command.split(' '));
      expect(status).toBe(0);
      expect(`${out}\n`, command).toBe(output);
    }
  });

  it('prints JSON with the limits at a rate, the day and its costs', async () => {
    const { status, out } = await asya(aMesh(), 'scale', 'my-mesh', '--rate', '500', '--json');
    expect(status).toBe(0);
    const json = JSON.parse(out);
    expect(json).toMatchObject({
      rate: 500,
      exceeded: [{ resource: 'copies of store', actor: 'store', limit: 10 }, { resource: 'copies of score' }],
      day: { dollars: expect.any(Number), usage: { sqsRequests: expect.any(Number) } },
    });
    expect(json.limits.filter(({ advice }: { readonly advice?: string }) => advice !== undefined)).toEqual(
      json.exceeded,
    );
    expect(json.day.hours).toHaveLength(24);
    expect(json.day.functions.store.backlog).toBeGreaterThan(json.day.functions.review.backlog);
  });

  it('prints JSON with the limits at four rates', async () => {
    const { out } = await asya(aMesh(), 'scale', 'my-mesh', '--json');
    const rates = JSON.parse(out).rates.map(({ rate }: { readonly rate: number }) => rate);
    expect(rates).toEqual([100, 1_000, 10_000, 100_000]);
  });

  it('uses the options of the workload', async () => {
    const options = '--take 20ms --take store=2s --size 65536 --failed 50% --tracked 10 --callers 4'.split(
      ' ',
    );
    const { out } = await asya(aMesh(), 'scale', 'my-mesh', ...options);
    expect(out.split('\n')[0]).toBe(
      '3 actors, 1 flow; calls take 20 ms (score), 2 s (store), 20 ms (review); envelopes of 65,536 bytes, 50 % fail, 10 % are tasks of 4 callers',
    );
  });

  it.each([
    [['--rate', 'many'], '--rate is "many"; expected a number above 0'],
    [['--rate', '1', '--take', 'scor=1s'], 'did you mean "score"'],
    [['--rate', 'Infinity'], '--rate is "Infinity"; expected a number above 0'],
    [['--callers', '1.5'], '--callers is "1.5"; expected a whole number above 0'],
    [['--size', '0.5'], '--size is "0.5"; expected a whole number above 0'],
    [['--crew-concurrency', '1'], '--crew-concurrency is "1"; expected a whole number from 2 to 1000'],
    [['--take', '20m'], 'calls of "score" cannot take 20 min: its actorTimeout is 30 s'],
    [['--failed', '101'], '--failed is "101"; expected a percentage from 0 to 100'],
    [
      ['--rate', '1', '--outage', 'store '],
      '--outage is "store "; expected one of score, store, review, stores',
    ],
    [['--size', '2000000'], 'SQS accepts at most 1048576 bytes'],
    [['--rate', '1', '--seed', 'x'], '--seed is "x"'],
  ])('rejects %j', async (options, problem) => {
    const { status, err } = await asya(aMesh(), 'scale', 'my-mesh', ...options);
    expect(status).toBe(2);
    expect(err).toContain(problem);
  });

  it('no longer advises what was set', async () => {
    const advice = 'set crewConcurrency to 78';
    const at = ['scale', 'my-mesh', '--rate', '10000'];
    expect((await asya(aMesh(), ...at)).out).toContain(advice);
    expect((await asya(aMesh(), ...at, '--crew-concurrency', '78')).out).not.toContain('crewConcurrency');
  });

  it('shows a low rate', async () => {
    const { out } = await asya(aMesh(), 'scale', 'my-mesh', '--rate', '0.01');
    expect(out).toContain('0.01 envelopes per second');
  });

  it('reports an invalid mesh', async () => {
    const { status, err } = await asya(aMesh(), 'scale', 'missing');
    expect(status).toBe(2);
    expect(err).toContain('missing');
  });
});
