import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbCancellations } from '../../../lib/adapters/dynamodb/dynamodb-cancellations.ts';
import { ensureTable, getItem } from '../../../lib/adapters/dynamodb/table.ts';
import { virtualClock } from '../../app/virtual-clock.ts';
import { startClientOfDynamoDb } from '../../support/embedded-dynamodb.ts';

const PERIOD_MS = 600_000;

let client: DynamoDBClient;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  return dynamoDb.close;
});

async function makeFixture(name: string) {
  const table = { client, name };
  await ensureTable(table);
  const clock = virtualClock(PERIOD_MS * 100);
  let reads = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'GetItemCommand') reads++;
        return next(args);
      },
    { step: 'initialize', name: 'countReads', override: true },
  );
  return { table, clock, cancellations: dynamoDbCancellations(table, clock), reads: () => reads };
}

describe('cancellations', () => {
  it('are returned for at least ten minutes, and not for longer than twenty', async () => {
    const { clock, cancellations } = await makeFixture('periods');
    await clock.pass(PERIOD_MS - 1_000);
    await cancellations.add('t-1');
    await clock.pass(5_000);
    await cancellations.add('t-2');
    expect([...(await cancellations.recent())].sort()).toEqual(['t-1', 't-2']);
    await clock.pass(PERIOD_MS - 10_000);
    expect([...(await cancellations.recent())].sort()).toEqual(['t-1', 't-2']);
    await clock.pass(10_000);
    expect(await cancellations.recent()).toEqual(['t-2']);
    await clock.pass(PERIOD_MS);
    expect(await cancellations.recent()).toEqual([]);
  });

  it('are read once in two seconds, by all callers together', async () => {
    const { table, clock, cancellations, reads } = await makeFixture('cached');
    await Promise.all(Array.from({ length: 100 }, () => cancellations.recent()));
    await dynamoDbCancellations(table, clock).add('t-1');
    await clock.pass(1_999);
    expect([await cancellations.recent(), reads()]).toEqual([[], 1]);
    await clock.pass(1);
    expect([await cancellations.recent(), reads()]).toEqual([['t-1'], 2]);
  });

  it('are known at once to the process that added them', async () => {
    const { cancellations } = await makeFixture('own');
    expect(await cancellations.recent()).toEqual([]);
    await cancellations.add('t-1');
    expect(await cancellations.recent()).toEqual(['t-1']);
  });

  it('are limited, and expire', async () => {
    const { table, clock, cancellations } = await makeFixture('limited');
    const many = Array.from({ length: 1_010 }, (_, nth) => `t-${nth}`);
    for (let from = 0; from < many.length; from += 100)
      await Promise.all(many.slice(from, from + 100).map((id) => cancellations.add(id)));
    expect(await cancellations.recent()).toHaveLength(1_000);
    const item = await getItem(table, `canceled#${clock.now() / PERIOD_MS}`);
    expect(Number(item?.['expires_at']?.N) * 1_000).toBe(clock.now() + 2 * PERIOD_MS);
  });

  it('are empty if the table cannot be read, and adding one is refused', async () => {
    const cancellations = dynamoDbCancellations({ client, name: 'missing' }, virtualClock());
    expect(await cancellations.recent()).toEqual([]);
    expect(await cancellations.add('t-1')).toMatchObject({ ok: false });
  });
});
