import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { NotAPicture } from './png.ts';

/** The picture travels in the envelope as base64, and a message has at most 1 MiB. */
const MAX_BYTES = 700_000;

// Without options: the SDK finds region, endpoint and the handler's credentials in its environment.
const s3 = new S3Client();

/** The bucket that actors.yaml declares: `asya dev` and the deployment set this variable. */
export function picturesBucket(): string {
  const name = process.env['BUCKET_PICTURES'];
  if (!name) throw new Error('BUCKET_PICTURES is not set; declare "buckets: [pictures]" in actors.yaml');
  return name;
}

export async function readPicture(key: string): Promise<Buffer> {
  const { Body, ContentLength = 0 } = await s3.send(
    new GetObjectCommand({ Bucket: picturesBucket(), Key: key }),
  );
  if (Body === undefined || ContentLength > MAX_BYTES)
    throw new NotAPicture(`"${key}" has ${ContentLength} bytes; expected at most ${MAX_BYTES}`);
  return Buffer.from(await Body.transformToByteArray());
}

export async function writePicture(key: string, png: Buffer): Promise<void> {
  await s3.send(
    new PutObjectCommand({ Bucket: picturesBucket(), Key: key, Body: png, ContentType: 'image/png' }),
  );
}
