import { type Engines, LOCAL_REGION } from '../engines/engines.ts';
import { ARCHIVE_BUCKET, FAILURE_TABLE_NAME } from '../engines/store-names.ts';

/** Settings that point to the stores. */
export function storeVariables({ s3Endpoint, dynamodbEndpoint }: Engines): Record<string, string> {
  return {
    ASYA_S3_ENDPOINT: s3Endpoint,
    ASYA_DYNAMODB_ENDPOINT: dynamodbEndpoint,
    ASYA_AWS_REGION: LOCAL_REGION,
    ASYA_ARCHIVE_BUCKET: ARCHIVE_BUCKET,
    ASYA_FAILURE_TABLE: FAILURE_TABLE_NAME,
  };
}
