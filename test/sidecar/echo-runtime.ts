import { createServer } from 'node:net';

/** A minimal runtime: returns every frame unchanged. */
const path = (process.env['ASYA_RUNTIME_URL'] ?? '').replace(/^unix:/, '');

createServer((socket) => {
  let received: Buffer = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const end = 4 + received.readUInt32BE(0);
      socket.write(received.subarray(0, end));
      received = received.subarray(end);
    }
  });
}).listen(path);
