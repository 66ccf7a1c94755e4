import { buildApp } from 'fauxqs';
import { guardServer, PROGRAMS_ONLY } from './browser-guard.ts';
import { guardFromHandlers } from './handler-guard.ts';
import { persistentStores } from './persistent-stores.ts';
import { ARCHIVE_BUCKET } from './store-names.ts';

/** SQS, SNS and S3 in this process, on loopback, for programs only: requests of browsers are refused. */
export interface SqsEngine {
  /** The endpoint of SQS and S3. Use path-style addressing for S3. */
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Rejects if the folder or the port cannot be used. */
export async function startSqs(folder: string | undefined, port: number): Promise<SqsEngine> {
  const persistent = folder === undefined ? undefined : await persistentStores(folder);
  const app = buildApp({ logger: false, ...(persistent !== undefined && { stores: persistent.stores }) });
  guardFromHandlers(app.server, ARCHIVE_BUCKET);
  guardServer(app.server, PROGRAMS_ONLY);
  const close = async () => {
    await app.close();
    persistent?.close();
  };
  try {
    return { endpoint: await app.listen({ host: '127.0.0.1', port }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
