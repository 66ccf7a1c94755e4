/** For an envelope that succeeded in a mesh that archives failed ones only. */
export const NOT_ARCHIVED =
  'its payload is not archived, because ASYA_ARCHIVE of this mesh is "failed" (`archive` in cdk.json)';
