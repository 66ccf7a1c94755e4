import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../sidecar/sidecar-process.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The code blocks of a language, in order. */
function blocks(language: string): readonly string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, text = '']) => text,
  );
}

function blockWith(language: string, text: string): string {
  const found = blocks(language).find((block) => block.includes(text));
  if (found === undefined) throw new Error(`the README has no ${language} block with "${text}"`);
  return found;
}

function isRunning(group: number): boolean {
  try {
    return process.kill(group, 0);
  } catch {
    return false;
  }
}

describe('the README', () => {
  it('links to existing files', () => {
    const links = [...README.matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it.each([
    ['ts', 'greet.ts'],
    ['yaml', 'greet.yaml'],
  ])('shows the %s file that asya init creates', (language, file) => {
    const [, ...lines] = blockWith(language, ` ${file}\n`).split('\n');
    expect(lines.join('\n')).toBe(readFileSync(join(ROOT, 'templates/mesh', file), 'utf8'));
  });

  it('names existing npm scripts', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...README.matchAll(/npm (?:run )?(start|test|[a-z:]+)\b/g)].map(([, name = '']) => name);
    const known = [...Object.keys(scripts), 'ci', 'run'];
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'demo']));
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe("the README's first actor", () => {
  let sqs: EmbeddedSqs;
  let folder: string;
  let sidecar: ChildProcess | undefined;

  beforeAll(async () => {
    // Without queues: the sidecar has to create them.
    sqs = await startEmbeddedSqs();
    folder = mkdtempSync(join(tmpdir(), 'asya-readme-'));
    writeFileSync(join(folder, 'my_module.py'), blockWith('python', 'def my_func'));
  });

  afterAll(async () => {
    const group = -(sidecar?.pid ?? 0);
    if (group !== 0) {
      if (isRunning(group)) process.kill(group, 'SIGTERM');
      // The shell exits before the sidecar and its runtime, whose socket is in the folder.
      await until(() => !isRunning(group), 'all processes have exited');
    }
    await sqs.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Waits for a queue to exist, and returns its first message. */
  async function firstIn(queue: string) {
    await expect
      .poll(() =>
        sqs.counts(queue).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    return sqs.takeUntil(queue, 1);
  }

  it('behaves as described when run as printed', async () => {
    const printed = blockWith('sh', 'npx asya sidecar');
    const command = printed.replace(/ASYA_SQS_ENDPOINT=\S+/, `ASYA_SQS_ENDPOINT=${sqs.endpoint}`);
    expect(command).not.toBe(printed);
    sidecar = spawn('/bin/sh', ['-c', command], {
      cwd: ROOT,
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        PYTHONPATH: folder,
        ASYA_SOCKET_PATH: join(folder, 'app.sock'),
        ASYA_METRICS_ADDR: '',
        PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
      },
    });
    const envelope = blockWith('json', '"curr":"score"').trim();
    await expect
      .poll(() =>
        sqs.send('score', envelope).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    const [arrived] = await firstIn('store');
    expect(JSON.parse(arrived?.Body ?? '')).toMatchObject({
      id: '1',
      payload: { n: 2 },
      route: { prev: ['score'], curr: 'store', next: [] },
    });

    await sqs.send('score', envelope.replace('"n":1', '"n":-1'));
    const [failed] = await firstIn('x-sink');
    expect(JSON.parse(failed?.Body ?? '')).toMatchObject({
      payload: { n: -1 },
      status: {
        phase: 'failed',
        reason: 'NonRetryableFailure',
        error: { type: 'ValueError', message: 'n is negative' },
      },
    });
  });
});
