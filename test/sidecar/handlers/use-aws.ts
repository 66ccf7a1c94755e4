import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

interface Request {
  readonly bucket: string;
  readonly queueUrl: string;
}

const options = { maxAttempts: 1 };
const s3 = new S3Client(options);
const sqs = new SQSClient({ ...options, useQueueUrlAsEndpoint: false });

/** Writes an object and tries to send to a queue. Returns how both ended, and the access key that was used. */
export async function useAws({ bucket, queueUrl }: Request) {
  return {
    put: await outcome(s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'node.txt', Body: 'hello' }))),
    send: await outcome(sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'hello' }))),
    key: await s3.config.credentials().then(
      ({ accessKeyId }) => accessKeyId,
      () => 'none',
    ),
  };
}

/** `done`, the status of a refusal, or the name of the error. moto's refusals have no code that the SDK can read. */
function outcome(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => 'done',
    (error: Error & { readonly $response?: { readonly statusCode?: number } }) =>
      String(error.$response?.statusCode ?? error.name),
  );
}
