import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../runtimes/clients.ts';
import { LANGUAGES, PYTHON } from '../runtimes/languages.ts';
import { endAll, startForTest } from '../runtimes/runtime-process.ts';
import { EXAMPLES, type ExampleMesh, readExample, startExample } from './example-mesh.ts';

const FOLDER = join(EXAMPLES, 'hello');

afterAll(endAll);

describe.each(LANGUAGES)("hello's handlers in $name", (language) => {
  const suffix = language.name === 'python' ? '-py' : '';
  const handlers = new Map(readExample(FOLDER).actors.map(({ name, runtime }) => [name, runtime]));

  async function call(actor: string, payload: unknown): Promise<{ status: number; answer: unknown }> {
    const spec = handlers.get(`${actor}${suffix}`);
    if (spec === undefined || !('handler' in spec)) throw new Error(`no handler for ${actor}`);
    const handler = language.name === 'python' ? spec.handler : `./${spec.handler}`;
    const runtime = await startForTest({ language, handler: handler ?? '', cwd: FOLDER, over: 'http' });
    const { status, text } = await ask(runtime, { body: JSON.stringify(payload) });
    return { status, answer: JSON.parse(text) };
  }

  it('return a greeting', async () => {
    const { answer } = await call('greet', { name: 'you' });
    expect(answer).toEqual({ greeting: 'Hello, you' });
  });

  it('reject a payload without a name, with the error type of the rule', async () => {
    const { status, answer } = await call('greet', {});
    expect(status).toBe(500);
    expect((answer as { type: string }).type.split('.').at(-1)).toBe('NoName');
  });

  it('return the greeting in upper case', async () => {
    const { answer } = await call('shout', { greeting: 'Hello, you' });
    expect(answer).toEqual({ greeting: 'HELLO, YOU!' });
  });
});

describe('hello on this machine', { timeout: 120_000 }, () => {
  let hello: ExampleMesh;
  beforeAll(async () => {
    const withPython = PYTHON.missing === undefined ? ['greet-py', 'shout-py'] : [];
    hello = await startExample(FOLDER, ['greet', 'shout', ...withPython]);
  }, 120_000);
  afterAll(() => hello.close());

  const flows = PYTHON.missing === undefined ? ['hello', 'hello-py'] : ['hello'];

  it.each(flows)('%s returns a greeting', async (flow) => {
    const [end] = await hello.ends(await hello.send(flow, { name: 'you' }), 1, 110_000);
    expect(end).toMatchObject({
      folder: 'succeeded',
      envelope: { payload: { greeting: 'HELLO, YOU!' }, status: { reason: 'Completed' } },
    });
  });

  it.each(flows)('%s does not retry without a name', async (flow) => {
    const [end] = await hello.ends(await hello.send(flow, {}), 1, 110_000);
    expect(end).toMatchObject({
      folder: 'failed',
      envelope: { payload: {}, status: { reason: 'NonRetryableFailure', attempt: 1 } },
    });
  });
});
