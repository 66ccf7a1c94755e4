import { join } from 'node:path';
import { buildApp } from 'fauxqs';
import { persistentStores } from '../../lib/local/engines/persistent-stores.ts';

/**
 * Runs the SQS of a local mesh on a folder and a port until it is killed, without its guard, which refuses clients that
 * connect through a proxy on another port.
 */
const [dataDir = '', port = '0'] = process.argv.slice(2);
const { stores } = await persistentStores(join(dataDir, 'sqs'));
const sqsEndpoint = await buildApp({ logger: false, stores }).listen({
  host: '127.0.0.1',
  port: Number(port),
});
console.log(JSON.stringify({ message: 'started', sqsEndpoint }));
