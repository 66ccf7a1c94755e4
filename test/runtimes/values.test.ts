import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMS, VALUES } from './cases.ts';
import { ask, connectTo, type FramedConnection, keepAliveAgent } from './clients.ts';
import { LANGUAGES, NODE, PYTHON } from './languages.ts';
import {
  endAll,
  type RuntimeProcess,
  startForTest,
  startRuntime,
  waitFor,
  within,
} from './runtime-process.ts';

afterAll(endAll);

describe.each(LANGUAGES)('$name runtime', (language) => {
  describe('over the socket answers', () => {
    let connection: FramedConnection;
    beforeAll(async () => {
      const runtime = await startRuntime({ language, handler: language.handler('run') });
      connection = await connectTo(runtime.socketPath);
    });

    it.each(VALUES)('$title', async ({ handler, payload, answer }) => {
      connection.send(JSON.stringify({ do: handler, with: payload }));
      expect(await connection.receive()).toBe(answer);
    });

    it('with an empty context', async () => {
      const known = await connection.call({ do: 'known', with: 1, ctx: true });
      expect(known).toEqual({
        payload: 1,
        id: null,
        attempt: null,
        deadline: null,
        traceparent: null,
        custom: null,
        error: null,
        key: null,
      });
    });

    it('frames that arrive byte by byte, and several frames at once', async () => {
      const one = JSON.stringify({ do: 'echo', with: 'ä'.repeat(50) });
      const head = Buffer.alloc(4);
      head.writeUInt32BE(Buffer.byteLength(one));
      for (const byte of Buffer.concat([head, Buffer.from(one)])) {
        connection.socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      expect(JSON.parse((await connection.receive()) ?? '')).toBe('ä'.repeat(50));
      connection.socket.cork();
      for (const n of [1, 2, 3]) connection.send(JSON.stringify({ do: 'later', with: n }));
      connection.socket.uncork();
      const answers = [await connection.receive(), await connection.receive(), await connection.receive()];
      expect(answers).toEqual(['1', '2', '3']);
    });
  });

  describe.each(['http', 'http+unix'] as const)('over %s answers', (over) => {
    let runtime: RuntimeProcess;
    const agent = keepAliveAgent();
    beforeAll(async () => {
      runtime = await startRuntime({ language, handler: language.handler('run'), over });
    });
    afterAll(() => agent.destroy());

    it.each(VALUES)('$title', async ({ handler, payload, answer }) => {
      const body = JSON.stringify({ do: handler, with: payload });
      const { status, text, headers } = await ask(runtime, { body, agent });
      if (answer === 'null') {
        expect([status, text]).toEqual([204, '']);
      } else {
        expect([status, text]).toEqual([200, answer]);
        expect(headers['content-type']).toBe('application/json');
      }
    });
  });

  it.each(FORMS)('hosts $title', async ({ handler, payload, answer }) => {
    const runtime = await startForTest({ language, handler: language.handler(handler) });
    const connection = await connectTo(runtime.socketPath);
    connection.send(JSON.stringify(payload));
    expect(await connection.receive()).toBe(answer);
  });

  it('creates one instance of a class and keeps it', async () => {
    const runtime = await startForTest({ language, handler: language.handler('Counter.add') });
    const [one, other] = [await connectTo(runtime.socketPath), await connectTo(runtime.socketPath)];
    expect([await one.call(2), await other.call(3), await one.call(4)]).toEqual([2, 5, 9]);
  });

  it('reads the handler name from ASYA_HANDLER', async () => {
    const env = { ASYA_HANDLER: language.handler('echo') };
    const runtime = await startForTest({ language, env });
    expect(await (await connectTo(runtime.socketPath)).call('x')).toBe('x');
  });

  it.each(['meet', 'meetlater'])('serves two connections concurrently (%s)', async (handler) => {
    const runtime = await startForTest({ language, handler: language.handler(handler) });
    const [one, other] = [await connectTo(runtime.socketPath), await connectTo(runtime.socketPath)];
    const answers = await within(Promise.all([one.call(1), other.call(2)]), 'both answers', 60_000);
    expect(answers).toEqual([1, 2]);
  });

  it('passes on the output of the handler, line by line', async () => {
    const runtime = await startForTest({ language, handler: language.handler('say') });
    expect(await (await connectTo(runtime.socketPath)).call('häi')).toBe('said');
    await waitFor(() => runtime.stdout() === 'häi\n', 'the line');
    await waitFor(() => runtime.stderr().endsWith('\ngrüße\n'), 'the other line');
  });
});

describe.runIf(LANGUAGES.includes(PYTHON))('python runtime', () => {
  it('keeps integers of any size, and floats as floats', async () => {
    const runtime = await startForTest({ language: PYTHON, handler: 'handlers.echo' });
    const connection = await connectTo(runtime.socketPath);
    for (const text of [
      '9223372036854775807',
      '-18446744073709551616',
      '1.0',
      '{"n":[12345678901234567890]}',
    ]) {
      connection.send(text);
      expect(await connection.receive()).toBe(text);
    }
  });
});

describe('node runtime', () => {
  it('treats undefined as no value', async () => {
    const runtime = await startForTest({ language: NODE, handler: './handlers.ts.silent' });
    const connection = await connectTo(runtime.socketPath);
    expect(await connection.call(1)).toBe(null);
  });
});
