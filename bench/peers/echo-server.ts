import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';

/** A process that gives back what it gets: frames on a Unix socket, or bodies over HTTP. */
const [kind, where = ''] = process.argv.slice(2);

if (kind === 'frames') {
  createServer((socket) => {
    let pending: Buffer[] = [];
    let length = 0;
    socket.on('data', (chunk) => {
      pending.push(chunk);
      length += chunk.length;
      const head = pending[0];
      if (head === undefined || head.length < 4) return;
      const whole = 4 + head.readUInt32BE(0);
      if (length < whole) return;
      socket.write(pending.length === 1 ? head : Buffer.concat(pending, length));
      pending = [];
      length = 0;
    });
    socket.on('error', () => socket.destroy());
  }).listen(where, () => process.send?.('ready'));
} else {
  createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
    });
  }).listen(where, () => process.send?.('ready'));
}
