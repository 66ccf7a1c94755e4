import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Archive } from '../../ports/archive.ts';
import { ACCEPTED, type Refusal } from '../../ports/reply.ts';

export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  readonly endpoint?: string;
  /** Default: S3-managed keys (SSE-S3). */
  readonly kmsKey?: string;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** `requestTimeout` of the SDK only logs a warning and waits forever, and does not cover a response body that stalls. */
const SOCKET_TIMEOUT_MS = 15_000;

export function s3Archive(options: S3Options, env: Environment): Archive & { close(): void } {
  const { bucket: Bucket, region, endpoint, kmsKey } = options;
  const client = new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...credentialsFor(endpoint, env),
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
  });
  const encryption =
    kmsKey === undefined
      ? ({ ServerSideEncryption: 'AES256' } as const)
      : ({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: kmsKey } as const);
  const refusal = (error: unknown, key: string): Refusal => {
    const what = String(error);
    return {
      ok: false,
      problem: `S3 request failed: ${what} (bucket "${Bucket}", key "${key}")`,
    };
  };

  return {
    put: async (Key, Body) => {
      try {
        await client.send(
          new PutObjectCommand({ Bucket, Key, Body, ContentType: 'application/json', ...encryption }),
        );
        return ACCEPTED;
      } catch (error) {
        return refusal(error, Key);
      }
    },
    get: async (Key) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
        return { ok: true, text: await Body?.transformToString('utf-8') };
      } catch (error) {
        return isMissing(error) ? { ok: true, text: undefined } : refusal(error, Key);
      }
    },
    has: async (Key) => {
      try {
        await client.send(new HeadObjectCommand({ Bucket, Key }));
        return { ok: true, exists: true };
      } catch (error) {
        return isMissing(error) ? { ok: true, exists: false } : refusal(error, Key);
      }
    },
    remove: async (Key) => {
      try {
        await client.send(new DeleteObjectCommand({ Bucket, Key }));
        return ACCEPTED;
      } catch (error) {
        return refusal(error, Key);
      }
    },
    close: () => client.destroy(),
  };
}

/** Whether the key is missing. A missing bucket is a refusal. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && (error.name === 'NoSuchKey' || error.name === 'NotFound');
}
