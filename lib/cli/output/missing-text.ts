import type { EndRecord } from '../../core/failure/record.ts';

/** Why there is no payload of an envelope that has ended. */
export function missingText({ archiveKey }: EndRecord): string {
  return archiveKey === undefined ? NOT_ARCHIVED : 'the archive no longer contains it';
}

/** For an envelope that succeeded in a mesh that archives failed ones only. */
const NOT_ARCHIVED =
  'its payload is not archived, because ASYA_ARCHIVE of this mesh is "failed" (`archive` in cdk.json)';
