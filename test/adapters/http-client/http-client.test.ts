import { spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpClientOptions, httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import type { HttpClient } from '../../../lib/ports/http-client.ts';
import { startByteServer } from '../../support/byte-server.ts';
import { type Script, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.ts';
import { noCertificates, selfSigned } from '../../support/self-signed.ts';

const closing: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serverWith(script: Script, ...tls: readonly [object?]): Promise<ScriptedServer> {
  const server = await startScriptedServer(script, ...tls);
  closing.push(server.close);
  return server;
}

function clientWith(options?: HttpClientOptions): HttpClient {
  const client = httpClient(options);
  closing.push(client.close);
  return client;
}

const post = (client: HttpClient, url: URL, more: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  client.post({ url, headers: { 'x-test': 'yes' }, body: '{"n":"ä"}', ...more });

const OK: Script = () => ({ body: 'fine' });

describe('a request', () => {
  it('is sent as it is, and resolves with any answer', async () => {
    const server = await serverWith(() => ({
      status: 503,
      headers: { 'X-Answer': 'a' },
      body: 'ä'.repeat(99_999),
    }));
    const answer = await post(clientWith(), new URL('/reports?a=b%20c', server.url));
    expect(answer).toMatchObject({ status: 503, headers: { 'x-answer': 'a' }, body: 'ä'.repeat(99_999) });
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        path: '/reports?a=b%20c',
        headers: { 'x-test': 'yes', 'content-length': '10', host: server.url.host },
        body: '{"n":"ä"}',
      },
    ]);
  });

  it('uses the connection of the request before it', async () => {
    const server = await serverWith(OK);
    const client = clientWith();
    for (let index = 0; index < 5; index++) await post(client, server.url);
    expect(server.connections).toBe(1);
  });

  it('rejects if the answer does not begin in time, and also if it does not continue', async () => {
    const client = clientWith({ timeoutMs: 100 });
    const hanging = await serverWith(() => 'hang');
    const problemOf = ({ host }: URL) => {
      const message = `no answer from ${host} within 100 ms`;
      return { name: 'TimeoutError', code: 'ETIMEDOUT', message };
    };
    await expect(post(client, hanging.url)).rejects.toMatchObject(problemOf(hanging.url));
    const stalling = await serverWith((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('a part');
      return 'done';
    });
    const problem = problemOf(stalling.url);
    await expect(post(client, stalling.url)).rejects.toMatchObject(problem);
    await expect(post(clientWith(), stalling.url, { timeoutMs: 100 })).rejects.toMatchObject(problem);
  });

  it('has as much time as it needs while its answer continues', async () => {
    const server = await serverWith((_request, response) => {
      let parts = 0;
      const sending = setInterval(() => {
        response.write('part');
        if (++parts < 2) return;
        clearInterval(sending);
        response.end();
      }, 1_300);
      return 'done';
    });
    expect(await post(clientWith({ timeoutMs: 2_500 }), server.url)).toMatchObject({ body: 'partpart' });
  });

  it('rejects if its connection does not open in time', async () => {
    // It accepts the connection, and never answers the TLS handshake.
    const server = await startByteServer('tcp', () => {});
    closing.push(server.close);
    const url = new URL(`https://127.0.0.1:${server.port}/`);
    await expect(post(clientWith({ connectTimeoutMs: 100 }), url)).rejects.toMatchObject({
      name: 'TimeoutError',
      message: `no connection to 127.0.0.1:${server.port} within 100 ms`,
    });
  });

  it('rejects with the reason of its signal', async () => {
    const server = await serverWith(() => 'hang');
    const stop = new AbortController();
    const pending = post(clientWith(), server.url, { signal: stop.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    stop.abort(new Error('enough'));
    await expect(pending).rejects.toThrow('enough');
    await expect(post(clientWith(), server.url, { signal: stop.signal })).rejects.toThrow('enough');
    expect(server.requests).toHaveLength(1);
    await expect.poll(() => server.openConnections).toBe(0);
  });

  it('rejects if the connection is lost within the answer', async () => {
    const server = await serverWith(({ connection }, response) => {
      if (connection === 1 && server.requests.length === 1) return { body: 'fine' };
      response.writeHead(200, { 'content-length': '100' }).write('a part', () => response.destroy());
      return 'done';
    });
    const client = clientWith();
    await post(client, server.url);
    await expect(post(client, server.url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    // The server had begun to answer, so this is not a connection that was closed before.
    expect(server.requests).toHaveLength(2);
  });
});

describe('a kept connection that went stale', () => {
  it('is replaced at once, also the other idle ones', async () => {
    let isThawed = false;
    const server = await serverWith(({ connection }) =>
      isThawed && connection <= 3 ? 'drop' : { body: 'fine' },
    );
    const client = clientWith();
    await Promise.all([1, 2, 3].map(() => post(client, server.url)));
    expect(server.connections).toBe(3);
    isThawed = true;
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
    expect(server.requests).toHaveLength(5);
    await expect.poll(() => server.openConnections).toBe(1);
  });

  it('also closes the other idle ones if it is silent, so that the next request opens its own', async () => {
    let isThawed = false;
    const server = await serverWith(({ connection }) =>
      isThawed && connection <= 3 ? 'hang' : { body: 'fine' },
    );
    const client = clientWith();
    await Promise.all([1, 2, 3].map(() => post(client, server.url)));
    expect(server.connections).toBe(3);
    isThawed = true;
    await expect(post(client, server.url, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
    expect(server.requests.at(-1)?.connection).toBe(4);
  });

  it('stays open if a new connection is silent', async () => {
    const server = await serverWith(({ connection }) => (connection === 2 ? 'hang' : { body: 'fine' }));
    const client = clientWith();
    const outcomes = await Promise.allSettled(
      [1, 2].map(() => post(client, server.url, { timeoutMs: 1_000 })),
    );
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    await post(client, server.url);
    expect(server.requests.at(-1)?.connection).toBe(1);
  });

  it('is replaced only once per request', async () => {
    const server = await serverWith(() => (server.requests.length === 1 ? { body: 'fine' } : 'drop'));
    const client = clientWith();
    await post(client, server.url);
    await expect(post(client, server.url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(server.requests).toHaveLength(3);
  });

  it('may be one that was opened early', async () => {
    const server = await serverWith(({ connection }) => (connection === 1 ? 'drop' : { body: 'fine' }));
    const client = clientWith();
    client.connect(server.url);
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
    expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2]);
  });

  it('is something else than a new connection that is lost', async () => {
    const server = await serverWith(() => 'drop');
    await expect(post(clientWith(), server.url)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('an early connection', () => {
  it('is there before the first request, and the request uses it', async () => {
    const server = await serverWith(OK);
    const client = clientWith();
    client.connect(server.url);
    client.connect(server.url);
    await expect.poll(() => server.openConnections).toBe(1);
    await post(client, server.url);
    await post(client, server.url);
    expect(server.connections).toBe(1);
  });

  it.skipIf(noCertificates !== undefined)(`saves the TLS handshake ${noCertificates ?? ''}`, async () => {
    const certificate = selfSigned();
    const server = await serverWith(OK, certificate);
    const client = clientWith({ tls: { ca: certificate.cert } });
    client.connect(server.url);
    // Connections count after their handshake.
    await expect.poll(() => server.openConnections).toBe(1);
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
    expect(server.connections).toBe(1);
    const distrusting = clientWith();
    distrusting.connect(server.url);
    await expect(post(distrusting, server.url)).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
  });

  it('that cannot be opened does no harm', async () => {
    const gone = await startScriptedServer(OK);
    await gone.close();
    const client = clientWith();
    client.connect(gone.url);
    await expect(post(client, gone.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const server = await serverWith(OK);
    client.connect(new URL('http://does-not-exist.invalid/'));
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
  });

  it('that the server closes is replaced', async () => {
    const server = await serverWith(OK);
    const accepting = await startByteServer('tcp', (socket) => socket.end());
    closing.push(accepting.close);
    const client = clientWith();
    const url = new URL(`http://127.0.0.1:${accepting.port}/`);
    client.connect(url);
    await expect.poll(() => [accepting.accepted(), accepting.open()]).toEqual([1, 0]);
    client.connect(server.url);
    expect(await post(client, server.url)).toMatchObject({ body: 'fine' });
  });

  it('does not keep the process running, nor does an idle one', async () => {
    const server = await serverWith(OK);
    const module = new URL('../../../lib/adapters/http-client/http-client.ts', import.meta.url).href;
    const script = `
      const { httpClient } = await import(${JSON.stringify(module)});
      const client = httpClient();
      const url = new URL(process.argv[1]);
      client.connect(url);
      if (process.argv[2] === 'post') await client.post({ url, headers: {}, body: '' });
      console.log('end of the script');
    `;
    for (const argument of ['post', 'connect']) {
      const child = spawnAsync(['--input-type=module', '-e', script, server.url.href, argument]);
      expect(await child).toContain('end of the script');
    }
  });
});

/** Resolves with the output when the process has ended by itself. */
async function spawnAsync(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return output;
}
