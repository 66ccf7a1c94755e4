import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dynamoDbClient } from '../../lib/adapters/dynamodb/dynamodb-client.ts';
import { dynamoDbTaskStore } from '../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { s3Archive } from '../../lib/adapters/s3/s3-archive.ts';
import { systemClock, systemDice } from '../../lib/adapters/system/system.ts';

/** Takes requests and never answers: neither refused nor broken, which is what hangs those who wait. */
let hung: Server;
let endpoint: string;
beforeAll(async () => {
  hung = createServer(() => {});
  hung.listen(0, '127.0.0.1');
  await once(hung, 'listening');
  endpoint = `http://127.0.0.1:${(hung.address() as AddressInfo).port}`;
});
afterAll(() => {
  hung.closeAllConnections();
  hung.close();
});

it('a table and an archive that hang are given up', { timeout: 300_000 }, async () => {
  const client = dynamoDbClient({ region: 'us-east-1', endpoint }, {});
  const archive = s3Archive({ bucket: 'b', region: 'us-east-1', endpoint }, {});
  const replies = await Promise.all([
    dynamoDbTaskStore({ client, name: 'tasks' }, systemClock, systemDice).get('t'),
    archive.get('k'),
  ]);
  for (const reply of replies)
    expect(reply).toMatchObject({ ok: false, problem: expect.stringContaining('does not answer') });
  client.destroy();
  archive.close();
});
