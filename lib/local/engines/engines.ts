import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startDynamodb } from './dynamodb-engine.ts';
import { PRIVATE_FOLDER } from './private-files.ts';
import { startSqs } from './sqs-engine.ts';

/** The services that a local mesh needs, embedded in this process. */
export interface Engines {
  readonly sqsEndpoint: string;
  /** The same server as SQS. Use path-style addressing. */
  readonly s3Endpoint: string;
  readonly dynamodbEndpoint: string;
  /** Releases all ports, locks and handles. Stop all pollers first. */
  close(): Promise<void>;
}

export interface EnginesOptions {
  /**
   * Folder for the data. Only one process can use it at a time.
   * @default data is in memory
   */
  readonly dataDir?: string;
  /** @default a free port */
  readonly sqsPort?: number;
  /** @default a free port */
  readonly dynamodbPort?: number;
}

/** The region of all local clients. The engine keeps separate queues per region. */
export const LOCAL_REGION = 'us-east-1';

export async function startEngines(
  options: EnginesOptions = {},
): Promise<{ engines: Engines } | { problem: string }> {
  const { dataDir, sqsPort = 0, dynamodbPort = 0 } = options;
  const folderOf = (name: string) => (dataDir === undefined ? undefined : join(dataDir, name));
  try {
    if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER });
    // SQS starts first, because its database is the lock for the whole folder.
    const sqs = await startSqs(folderOf('sqs'), sqsPort);
    try {
      const dynamodb = await startDynamodb(folderOf('dynamodb'), dynamodbPort);
      return {
        engines: {
          sqsEndpoint: sqs.endpoint,
          s3Endpoint: sqs.endpoint,
          dynamodbEndpoint: dynamodb.endpoint,
          close: async () => {
            await Promise.all([sqs.close(), dynamodb.close()]);
          },
        },
      };
    } catch (error) {
      await sqs.close();
      throw error;
    }
  } catch (error) {
    return { problem: problemFrom(error, dataDir) };
  }
}

/** Describes why the engines did not start, and what to do. */
function problemFrom(error: unknown, dataDir: string | undefined): string {
  const { code, message, port, errcode, cause } = error as Error & Partial<SystemProblem>;
  if (code === 'EADDRINUSE')
    return `port ${port} on 127.0.0.1 is already in use; stop the process that listens there, or choose another port`;
  if (code === 'EACCES' && port !== undefined)
    return `this user may not listen on port ${port}; choose a port above 1023`;
  if (dataDir === undefined) return `the embedded engines failed to start: ${message}`;
  if (errcode === SQLITE_BUSY)
    return `the data in ${dataDir} is in use by another mesh; stop that mesh, or choose another folder`;
  const why = cause instanceof Error ? cause.message : message;
  return `cannot use the data in ${dataDir}: ${why}; repair or remove the folder, or choose another one`;
}

interface SystemProblem {
  readonly code: string;
  readonly port: number;
  /** SQLite's error code. */
  readonly errcode: number;
  readonly cause: unknown;
}

const SQLITE_BUSY = 5;
