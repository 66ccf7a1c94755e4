import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LogLine } from '../../lib/local/mesh/log-line.ts';
import { aFolder } from '../support/a-folder.ts';
import { type Desk, type Office, openOffice } from './a-cli.ts';
import { asya, type Run, type Sitting } from './a-terminal.ts';

/** `asya send`, `watch`, `status` and `queues`, beside a mesh that runs here. */

let office: Office;
beforeAll(async () => {
  office = await openOffice();
  for (const name of ['fetch', 'x-sink', 'x-sump']) await office.engines.sqs.createQueue(name);
});
afterAll(() => office.close());

interface Seat extends Desk {
  readonly folder: string;
  readonly logFile: string;
  asya(argv: readonly string[], sitting?: Sitting): Promise<Run>;
}

/** In the folder of a mesh that says it is there: this very process. */
async function aSeat(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<Seat> {
  const desk = await office.desk();
  const folder = aFolder(files);
  const home = join(folder, '.asya', 'scores');
  mkdirSync(home, { recursive: true });
  const logFile = join(home, 'log.jsonl');
  const flows = [{ name: 'scores', entrypoint: 'fetch', routeNext: ['score'], timeoutSeconds: 90 }];
  const actors = ['fetch', 'score'];
  const mesh = {
    name: 'scores',
    folder,
    pid: process.pid,
    logFile,
    variables: desk.variables,
    actors,
    flows,
  };
  writeFileSync(join(home, 'mesh.json'), JSON.stringify(mesh));
  return { ...desk, folder, logFile, asya: (argv, sitting) => asya(argv, { cwd: folder, ...sitting }) };
}

async function waitingAt(actor: string, { asya }: Seat): Promise<number> {
  const { out } = await asya(['queues', '--json']);
  const rows = JSON.parse(out) as readonly { readonly actor: string; readonly visible: number }[];
  return rows.find((row) => row.actor === actor)?.visible ?? Number.NaN;
}

describe('asya send', () => {
  it("sends along the flow's route, with its deadline, and prints the id", async () => {
    const { asya } = await aSeat();
    const now = () => Date.UTC(2026, 7, 1);
    const run = await asya(['send', 'scores', '--payload', '{"n":12345678901234567890}', '--id', 'e-1'], {
      now,
    });
    expect(run).toMatchObject({ status: 0, out: 'e-1', err: '' });
    const [{ Body: sent = '' } = {}] = await office.engines.sqs.takeUntil('fetch', 1);
    expect(sent).toContain('{"n":12345678901234567890}');
    expect(JSON.parse(sent)).toMatchObject({
      id: 'e-1',
      route: { prev: [], curr: 'fetch', next: ['score'] },
      headers: { 'x-asya-flow': 'scores' },
      status: { deadline_at: '2026-08-01T00:01:30Z' },
    });
  });

  it('takes a payload from a file, and an actor instead of a flow', async () => {
    const { asya } = await aSeat({ 'p.json': '{"from":"a file"}\n' });
    expect(await asya(['send', 'score', '--payload', 'p.json'])).toMatchObject({ status: 0 });
    const [{ Body: sent = '' } = {}] = await office.engines.sqs.takeUntil('score', 1);
    expect(JSON.parse(sent)).toMatchObject({
      route: { prev: [], curr: 'score', next: [] },
      payload: { from: 'a file' },
    });
  });

  it.each([
    [['--wait', '--timeout', 'soon'], '--timeout is "soon"; a duration is text like'],
    [['--id', ''], '--id is empty; leave it out for a new one'],
    [['--payload', 'folder'], '--payload: folder cannot be read: EISDIR'],
    [['--payload', '{"n":'], '--payload: is neither JSON nor a file: the text ends at line 1, column 6'],
    [['--payload', 'folder/latin1.json'], '--payload: folder/latin1.json cannot be read: The encoded data'],
    [['--payload', 'folder/broken.json'], '--payload: folder/broken.json is no JSON: the text ends'],
  ])('refuses %j before anything is sent', async (options, words) => {
    const seat = await aSeat({
      'folder/broken.json': '[',
      'folder/latin1.json': Buffer.from('"Zo\xeb"', 'latin1'),
    });
    const before = await waitingAt('fetch', seat);
    const run = await seat.asya(['send', 'scores', ...options]);
    expect(run).toMatchObject({ status: 2, out: '', err: expect.stringContaining(`asya: ${words}`) });
    expect(run.err.split('\n')).toHaveLength(1);
    expect(await waitingAt('fetch', seat)).toBe(before);
  });

  it('names the flow or actor that was meant', async () => {
    const { asya } = await aSeat();
    expect(await asya(['send', 'scroes'])).toMatchObject({
      status: 2,
      err: 'asya: there is no flow or actor "scroes"; did you mean "scores"?',
    });
  });

  it('with --wait prints what it ended with, and moves no cursor by it', async () => {
    const { asya, scene } = await aSeat();
    const body = {
      id: 'w-1',
      route: { prev: ['score'], curr: '', next: [] },
      payload: { said: 'a\u009b2Jb\u202ec', n: 1 },
    };
    await scene.endAs(JSON.stringify(body), 'score', 'succeeded');
    const run = await asya(['send', 'score', '--id', 'w-1', '--wait']);
    expect(run).toMatchObject({ status: 0, out: '{"said":"a\\u009b2Jb\\u202ec","n":1}' });
    expect(JSON.parse(run.out)).toEqual(body.payload);
    await office.engines.sqs.takeUntil('score', 1);
  });

  it('with --wait tells of a failure, of where to read more, and of no end in time', async () => {
    const { asya, scene } = await aSeat();
    await scene.fail(['f 1']);
    expect(await asya(['send', 'score', '--id', 'f 1', '--wait'])).toMatchObject({
      status: 1,
      err: "asya: f 1 failed: PolicyExhausted; asya failures show 'f 1' tells why",
    });
    expect(await asya(['send', 'score', '--id', 'n-1', '--wait', '--timeout', '10ms'])).toMatchObject({
      status: 1,
      err: 'asya: n-1: no end yet; asya watch n-1 follows it, --timeout waits longer',
    });
    await office.engines.sqs.takeUntil('score', 2);
  });
});

describe('asya send --wait', () => {
  it('tells of a failure once it is listed where we say that one reads more', async () => {
    const { asya, scene } = await aSeat();
    await scene.fail(['f-2']);
    const [failure] = await scene.entriesOf('f-2');
    if (failure === undefined) throw new Error('it is not listed');
    await scene.stores.failures.remove(failure.identity);
    const order: string[] = [];
    const sending = asya(['send', 'score', '--id', 'f-2', '--wait']).then((run) => {
      order.push('told');
      return run;
    });
    await pause(500);
    order.push('listed');
    await scene.stores.failures.enter(failure);
    expect(await sending).toMatchObject({ status: 1, err: expect.stringContaining('f-2 failed') });
    expect(order).toEqual(['listed', 'told']);
    await office.engines.sqs.takeUntil('score', 1);
  });
});

describe('asya watch', () => {
  const line: LogLine = {
    kind: 'delivery',
    time: '2026-08-01T00:00:00Z',
    actor: 'score',
    envelopeId: 'e-1',
    attempt: 2,
    settle: 'ack',
    isFailure: false,
    words: 'success → x-sink',
  };
  const logged = (...lines: readonly LogLine[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

  it('tells its hops and its end', async () => {
    const { asya, scene, logFile } = await aSeat();
    writeFileSync(logFile, logged({ ...line, envelopeId: 'other' }, line));
    await scene.endAs(
      '{"id":"e-1","route":{"prev":["score"],"curr":"","next":[]},"payload":1}',
      'score',
      'succeeded',
    );
    expect(await asya(['watch', 'e-1'])).toMatchObject({
      status: 0,
      out: '00:00:00 score attempt 2 e-1 success → x-sink\nsucceeded at score: Completed',
    });
  });

  it('says so where nothing is known of it, and goes on until it is stopped', async () => {
    const { asya } = await aSeat();
    const stop = new AbortController();
    const watching = asya(['watch', 'e-nobody'], { stop: stop.signal, onSay: () => stop.abort() });
    expect(await watching).toMatchObject({
      status: 130,
      out: '',
      err: 'nothing of e-nobody yet: it waits in a queue, or nobody sent it; Ctrl-C stops waiting',
    });
  });
});

describe('asya status and asya queues', () => {
  it('count failures in words', async () => {
    const { asya, scene } = await aSeat();
    expect((await asya(['status'])).out).toMatch(/\nno failures$/);
    await scene.fail(['e-1']);
    expect((await asya(['status'])).out).toMatch(/\n1 failure: asya failures$/);
    await scene.fail(['e-2']);
    expect((await asya(['status'])).out).toMatch(/\n2 failures: asya failures$/);
  });

  it('tell every queue, and which are not there', async () => {
    const { asya } = await aSeat();
    const run = await asya(['queues']);
    expect(run).toMatchObject({ status: 0, err: '' });
    expect(run.out.split('\n').map((row) => row.split(' ')[0])).toEqual([
      'ACTOR',
      'fetch',
      'score',
      'x-sink',
      'x-sump',
    ]);
    expect(await asya(['queues', '--actors', 'score, scroe'])).toMatchObject({
      status: 1,
      out: expect.stringContaining('\nscore '),
      err: 'asya: there is no queue of scroe',
    });
  });
});
