import { buildApp } from 'fauxqs';
import { guardServer, PROGRAMS_ONLY } from './browser-guard.ts';
import { persistentStores } from './persistent-stores.ts';

/** SQS, SNS and S3 in this process, on loopback, for programs only: requests of browsers are refused. */
export interface SqsEngine {
  /** Of both; S3 in path style. */
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Rejects where the folder or the port cannot be had. */
export async function startSqs(folder: string | undefined, port: number): Promise<SqsEngine> {
  const lasting = folder === undefined ? undefined : await persistentStores(folder);
  const app = buildApp({ logger: false, ...(lasting !== undefined && { stores: lasting.stores }) });
  guardServer(app.server, PROGRAMS_ONLY);
  const close = async () => {
    await app.close();
    lasting?.close();
  };
  try {
    return { endpoint: await app.listen({ host: '127.0.0.1', port }), close };
  } catch (error) {
    await close();
    throw error;
  }
}
