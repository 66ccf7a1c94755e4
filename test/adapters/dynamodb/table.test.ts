import { DescribeTableCommand, type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { ensureTable, text } from '../../../lib/adapters/dynamodb/table.ts';
import { FAILURE_TABLE } from '../../../lib/config/plan/failure-table.ts';
import { startClientOfDynamoDb, startEmbeddedDynamoDb } from '../../support/embedded-dynamodb.ts';

let client: DynamoDBClient;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  return dynamoDb.close;
});

describe('the table', () => {
  it('is created with its indexes if it is missing, otherwise unchanged', async () => {
    for (let time = 0; time < 2; time++) await ensureTable({ client, name: 'made' });
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'made' }));
    expect(Table?.KeySchema).toEqual([{ AttributeName: 'pk', KeyType: 'HASH' }]);
    expect(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName).sort()).toEqual(
      FAILURE_TABLE.indexes.map(({ name }) => name).sort(),
    );
  });

  it('is ready after ensureTable, even if creation is slow', async () => {
    const slow = await startEmbeddedDynamoDb(300);
    const slowClient = dynamoDbClient({ region: 'us-east-1', endpoint: slow.endpoint }, {});
    await ensureTable({ client: slowClient, name: 'made' });
    await slowClient.send(new PutItemCommand({ TableName: 'made', Item: { pk: text('one') } }));
    slowClient.destroy();
    await slow.close();
  });

  it('is not treated as missing if it cannot be reached', async () => {
    const unreachable = dynamoDbClient({ region: 'us-east-1', endpoint: 'http://127.0.0.1:1' }, {});
    await expect(ensureTable({ client: unreachable, name: 'made' })).rejects.toThrow('ECONNREFUSED');
    unreachable.destroy();
  });
});

describe('a string attribute', () => {
  it.each([
    ['', ''],
    ['a', 'a'],
    ['half \ud800 pair', 'half \ufffd pair'],
    ['n'.repeat(2_049), 'n'.repeat(2_048)],
    [`${'n'.repeat(2_046)}\u{1F600}`, 'n'.repeat(2_046)],
    ['\ud800'.repeat(1_000), '\ufffd'.repeat(682)],
  ])('is cut to the limit of an index key, at whole characters', (value, kept) => {
    expect(text(value)).toEqual({ S: kept });
  });
});
