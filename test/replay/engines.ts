import { dynamoDbClient } from '../../lib/adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../lib/adapters/dynamodb/table.ts';
import type { Stores } from '../../lib/assembly/from-config/crew-from-config.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';

/** The embedded stores, with a new table for each test that counts its entries. */
export interface Engines extends EmbeddedStores {
  freshTable(): Promise<{ stores: Stores; variables: Readonly<Record<string, string>> }>;
}

export async function startEngines(): Promise<Engines> {
  const embedded = await startEmbeddedStores();
  const { variables, storesWith } = embedded;
  const client = dynamoDbClient(
    { region: 'us-east-1', endpoint: variables['ASYA_DYNAMODB_ENDPOINT'] ?? '' },
    {},
  );
  let tables = 0;
  return {
    ...embedded,
    freshTable: async () => {
      const table = `failures-${++tables}`;
      await ensureTable({ client, name: table });
      return { stores: storesWith({ table }), variables: { ...variables, ASYA_FAILURE_TABLE: table } };
    },
    close: async () => {
      client.destroy();
      await embedded.close();
    },
  };
}
