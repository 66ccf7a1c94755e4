import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonLog } from '../../lib/adapters/log/json-log.ts';
import { type LogLine, readLogLine } from '../../lib/local/mesh/log-line.ts';
import { aFolder } from '../support/a-folder.ts';
import { type Backend, type CrewMesh, startBackend } from './operator-fixture.ts';
import { asya, type Run, type RunOptions } from './run-asya.ts';

/** `asya send`, `watch`, `status` and `queues`, for a mesh on this machine. */

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
  for (const name of ['fetch', 'x-sink', 'x-sump']) await backend.engines.sqs.createQueue(name);
});
afterAll(() => backend.close());

interface LocalMesh extends CrewMesh {
  readonly folder: string;
  readonly logFile: string;
  asya(argv: readonly string[], options?: RunOptions): Promise<Run>;
}

/** A folder with the mesh.json of a running mesh, whose process is this one. */
async function localMesh(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<LocalMesh> {
  const crew = await backend.newMesh();
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
    variables: crew.variables,
    actors,
    flows,
  };
  writeFileSync(join(home, 'mesh.json'), JSON.stringify(mesh));
  return { ...crew, folder, logFile, asya: (argv, options) => asya(argv, { cwd: folder, ...options }) };
}

async function waitingAt(actor: string, { asya }: LocalMesh): Promise<number> {
  const { out } = await asya(['queues', '--json']);
  const rows = JSON.parse(out) as readonly { readonly actor: string; readonly visible: number }[];
  return rows.find((row) => row.actor === actor)?.visible ?? Number.NaN;
}

describe('asya send', () => {
  it("sends along the flow's route, with its deadline, and prints the id", async () => {
    const { asya } = await localMesh();
    const now = () => Date.UTC(2026, 7, 1);
    const run = await asya(['send', 'scores', '--payload', '{"n":12345678901234567890}', '--id', 'e-1'], {
      now,
    });
    expect(run).toMatchObject({ status: 0, out: 'e-1', err: '' });
    const [{ Body: sent = '' } = {}] = await backend.engines.sqs.takeUntil('fetch', 1);
    expect(sent).toContain('{"n":12345678901234567890}');
    expect(JSON.parse(sent)).toMatchObject({
      id: 'e-1',
      route: { prev: [], curr: 'fetch', next: ['score'] },
      headers: { 'x-asya-flow': 'scores' },
      status: { deadline_at: '2026-08-01T00:01:30Z' },
    });
  });

  it('sends a payload from a file, to a single actor', async () => {
    const { asya } = await localMesh({ 'p.json': '{"from":"a file"}\n' });
    expect(await asya(['send', 'score', '--payload', 'p.json'])).toMatchObject({ status: 0 });
    const [{ Body: sent = '' } = {}] = await backend.engines.sqs.takeUntil('score', 1);
    expect(JSON.parse(sent)).toMatchObject({
      route: { prev: [], curr: 'score', next: [] },
      payload: { from: 'a file' },
    });
  });

  it.each([
    [['--wait', '--timeout', 'soon'], '--timeout is "soon"; expected a duration such as'],
    [['--id', ''], '--id is empty; omit it to get a new id'],
    [['--payload', 'folder'], '--payload: folder cannot be read: EISDIR'],
    [
      ['--payload', '{"n":'],
      '--payload is "{"n":", which is neither JSON (unexpected end of text at line 1, column 6) nor a file',
    ],
    [['--payload', 'folder/latin1.json'], '--payload: folder/latin1.json cannot be read: The encoded data'],
    [
      ['--payload', 'folder/broken.json'],
      '--payload: folder/broken.json is not JSON: unexpected end of text',
    ],
  ])('rejects %j before anything is sent', async (options, message) => {
    const mesh = await localMesh({
      'folder/broken.json': '[',
      'folder/latin1.json': Buffer.from('"Zo\xeb"', 'latin1'),
    });
    const before = await waitingAt('fetch', mesh);
    const run = await mesh.asya(['send', 'scores', ...options]);
    expect(run).toMatchObject({ status: 2, out: '', err: expect.stringContaining(`asya: ${message}`) });
    expect(run.err.split('\n')).toHaveLength(1);
    expect(await waitingAt('fetch', mesh)).toBe(before);
  });

  it('suggests a similar flow or actor', async () => {
    const { asya } = await localMesh();
    expect(await asya(['send', 'scroes'])).toMatchObject({
      status: 2,
      err: 'asya: no flow or actor is named "scroes"; did you mean "scores"?',
    });
  });

  it('with --wait prints the final payload, with control characters escaped', async () => {
    const { asya, scene } = await localMesh();
    const body = {
      id: 'w-1',
      route: { prev: ['score'], curr: '', next: [] },
      payload: { said: 'a\u009b2Jb\u202ec', n: 1 },
    };
    await scene.endAs(JSON.stringify(body), 'score', 'succeeded');
    const run = await asya(['send', 'score', '--id', 'w-1', '--wait']);
    expect(run).toMatchObject({ status: 0, out: '{"said":"a\\u009b2Jb\\u202ec","n":1}' });
    expect(JSON.parse(run.out)).toEqual(body.payload);
    await backend.engines.sqs.takeUntil('score', 1);
  });

  it('with --wait reports a failure, and an envelope that does not end in time', async () => {
    const { asya, scene } = await localMesh();
    await scene.fail(['f 1']);
    expect(await asya(['send', 'score', '--id', 'f 1', '--wait'])).toMatchObject({
      status: 1,
      err: [
        'asya: f 1 failed at score: exhausted (PolicyExhausted), attempt 3 of 3',
        '  pkg.ValueError: no such user: 17',
        '    File "/app/score.py", line 7, in score',
        '      raise ValueError',
        "  for details run asya failures show 'f 1'",
      ].join('\n'),
    });
    expect(await asya(['send', 'score', '--id', 'n-1', '--wait', '--timeout', '10ms'])).toMatchObject({
      status: 1,
      err: 'asya: n-1: not ended yet; follow it with asya watch n-1, or pass a longer --timeout',
    });
    await backend.engines.sqs.takeUntil('score', 2);
  });
});

describe('asya send --wait', () => {
  it('reports a failure after x-sump has indexed it', async () => {
    const { asya, scene } = await localMesh();
    await scene.fail(['f-2']);
    const [failure] = await scene.entriesOf('f-2');
    if (failure === undefined) throw new Error('f-2 is not indexed');
    await scene.stores.failures.remove(failure.identity);
    const order: string[] = [];
    const sending = asya(['send', 'score', '--id', 'f-2', '--wait']).then((run) => {
      order.push('reported');
      return run;
    });
    await pause(500);
    order.push('indexed');
    await scene.stores.failures.add(failure);
    expect(await sending).toMatchObject({ status: 1, err: expect.stringContaining('f-2 failed') });
    expect(order).toEqual(['indexed', 'reported']);
    await backend.engines.sqs.takeUntil('score', 1);
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
    text: 'succeeded, attempt 2 → x-sink',
  };
  const logged = (...lines: readonly LogLine[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join('');

  it('prints the hops and the end', async () => {
    const { asya, scene, logFile } = await localMesh();
    writeFileSync(logFile, logged({ ...line, envelopeId: 'other' }, line));
    await scene.endAs(
      '{"id":"e-1","route":{"prev":["score"],"curr":"","next":[]},"payload":1}',
      'score',
      'succeeded',
    );
    expect(await asya(['watch', 'e-1'])).toMatchObject({
      status: 0,
      out: '00:00:00 score e-1 succeeded, attempt 2 → x-sink\nsucceeded at score: Completed',
    });
  });

  it("prints a handler's progress", async () => {
    const { asya, scene, logFile } = await localMesh();
    const lines: LogLine[] = [];
    const write = (text: string) => lines.push(readLogLine('score', text) as LogLine);
    const log = jsonLog({ level: 'info', actor: 'score', now: () => Date.UTC(2026, 7, 1), write });
    log.progress?.({ envelopeId: 'e-1', percent: 40, message: 'frame 2 of 5' });
    log.progress?.({ envelopeId: 'e-1', percent: 60 });
    log.progress?.({ envelopeId: 'e-1', message: 'uploading' });
    log.progress?.({ envelopeId: 'other', percent: 1 });
    writeFileSync(logFile, logged(...lines));
    await scene.endAs(
      '{"id":"e-1","route":{"prev":["score"],"curr":"","next":[]},"payload":1}',
      'score',
      'succeeded',
    );
    const { out } = await asya(['watch', 'e-1']);
    expect(out.split('\n').map((text) => text.replace(/^.*?(?=progress)/, ''))).toEqual([
      'progress: frame 2 of 5 (40 %)',
      'progress: 60 %',
      'progress: uploading',
      'succeeded at score: Completed',
    ]);
  });

  it('prints a hint without log lines, and waits until it is stopped', async () => {
    const { asya } = await localMesh();
    const stop = new AbortController();
    const watching = asya(['watch', 'e-missing'], { stop: stop.signal, onPrintError: () => stop.abort() });
    expect(await watching).toMatchObject({
      status: 130,
      out: '',
      err: 'no log lines for e-missing yet: it is waiting in a queue, or it was never sent; press Ctrl-C to stop waiting',
    });
  });
});

describe('asya status and asya queues', () => {
  it('print the number of failures', async () => {
    const { asya, scene } = await localMesh();
    expect((await asya(['status'])).out).toMatch(/\nno failures$/);
    await scene.fail(['e-1']);
    expect((await asya(['status'])).out).toMatch(/\n1 failure; run asya failures$/);
    await scene.fail(['e-2']);
    expect((await asya(['status'])).out).toMatch(/\n2 failures; run asya failures$/);
  });

  it("print the gateway's URL and key, also of a stopped mesh", async () => {
    const gateway = { url: 'http://127.0.0.1:4321', key: 'asya_0123456789abcdef' };
    const { asya, folder } = await localMesh();
    const home = join(folder, '.asya', 'scores');
    const file = join(home, 'mesh.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), gateway }));
    writeFileSync(join(home, 'gateway.json'), JSON.stringify({ port: 4321, key: gateway.key }));
    const lines = `gateway: ${gateway.url}\nkey: ${gateway.key}`;
    expect(await asya(['status'])).toMatchObject({ status: 0, out: expect.stringContaining(`\n${lines}\n`) });
    rmSync(file);
    expect(await asya(['status'])).toMatchObject({
      status: 1,
      out: `scores: not running; asya dev starts it\n${lines}`,
    });
    expect(JSON.parse((await asya(['status', '--json'])).out)).toEqual([
      { name: 'scores', isRunning: false, gateway },
    ]);
  });

  it('print every queue, and report missing ones', async () => {
    const { asya } = await localMesh();
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
      err: 'asya: no queue exists for scroe',
    });
  });
});
