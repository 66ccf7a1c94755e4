import { defined } from '../../core/text/defined.ts';
import type { RunIndex } from '../../ports/run-index.ts';
import { RECORD_PREFIX, recordFromItem } from './dynamodb-end-records.ts';
import { ENDS_PARTITIONS } from './ends-inbox.ts';
import { INVALID_CURSOR, listPartitions } from './list-partitions.ts';
import { refusalOf, type Table } from './table.ts';

/** Reads the end records by time, from the index that the failures also use, in partitions of their own. */
export function dynamoDbRunIndex(table: Table): RunIndex {
  return {
    list: async ({ end, actor, reason, flow, idPrefix, sinceMs }, options) => {
      const query = {
        index: 'by-time',
        hashName: 'inbox',
        partitions: ENDS_PARTITIONS,
        keyPrefix: RECORD_PREFIX,
        where: defined({ end, actor, reason, flow }) as Record<string, string>,
        ...(idPrefix !== undefined && { startsWith: { envelope_id: idPrefix } }),
        ...defined({ sinceMs }),
      } as const;
      try {
        const page = await listPartitions(table, query, options);
        if (page === undefined) return INVALID_CURSOR;
        const { items, ...rest } = page;
        return { ok: true, records: items.map(recordFromItem), ...rest };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
  };
}
