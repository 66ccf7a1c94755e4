import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

/** A process that returns what it receives: frames on a Unix socket, or bodies over HTTP on a free port. */
const [kind, where = ''] = process.argv.slice(2);

if (kind === 'frames') {
  createServer((socket) => {
    let pending: Buffer[] = [];
    let length = 0;
    socket.on('data', (chunk) => {
      pending.push(chunk);
      length += chunk.length;
      const head = pending[0];
      if (head === undefined || head.length < 4 || length < 4 + head.readUInt32BE(0)) return;
      socket.write(pending.length === 1 ? head : Buffer.concat(pending, length));
      pending = [];
      length = 0;
    });
    socket.on('error', () => socket.destroy());
  }).listen(where, () => process.send?.('ready'));
} else {
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}
