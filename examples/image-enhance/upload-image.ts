import { createHash } from 'node:crypto';
import { picturesBucket, writePicture } from './pictures-bucket.ts';

interface Enhanced {
  readonly png: string;
}

/** Uploads the picture, and returns its bucket and key instead of the picture. */
export async function uploadImage({ png, ...rest }: Enhanced) {
  const bytes = Buffer.from(png, 'base64');
  // The name is a hash of the contents, so a second delivery writes the same object.
  const name = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const key = `enhanced/${name}.png`;
  await writePicture(key, bytes);
  return { ...rest, bucket: picturesBucket(), key };
}
