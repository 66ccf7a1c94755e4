import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The gateway's function for reports, in its own process: answers at once that no task is canceled. On any message from
 * its parent it sends the number of requests. Short calls are not reported; a sidecar then only asks for cancellations.
 */

let count = 0;
const ANSWER = '{"canceled":[]}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    count++;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length });
    response.end(ANSWER);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () =>
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.on('message', () => process.send?.(count));
