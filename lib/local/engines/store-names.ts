/** The mesh's own stores in the embedded engines. */
export const ARCHIVE_BUCKET = 'asya-archive';
export const FAILURE_TABLE_NAME = 'asya-failures';
