import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startByteServer } from '../../support/byte-server.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';

const MD5 = createHash('md5').update('x').digest('hex');

it('are not used, like by the AWS SDK, also if Node itself uses them', async () => {
  const server = await startScriptedServer(() => ({
    body: JSON.stringify({ Successful: [{ Id: '0', MessageId: 'a', MD5OfMessageBody: MD5 }], Failed: [] }),
  }));
  onTestFinished(server.close);
  const asked: string[] = [];
  const proxy = await startByteServer('tcp', (socket) => {
    socket.on('data', (bytes) => {
      asked.push(String(bytes).split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    });
  });
  onTestFinished(proxy.close);
  const address = `http://127.0.0.1:${proxy.port}`;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'proxy-probe.ts'), server.url.origin], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      NO_PROXY: '',
      no_proxy: '',
      ...Object.fromEntries(
        ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'].map((name) => [
          name,
          address,
        ]),
      ),
    },
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  // Directly from both clients. The proxy got the request of `fetch`, so it would have been used.
  expect(server.requests.map(({ headers }) => headers['x-amz-target'])).toEqual([
    'AmazonSQS.SendMessageBatch',
    'AmazonSQS.SendMessageBatch',
  ]);
  expect(asked).not.toEqual([]);
});
