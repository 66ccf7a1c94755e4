import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startDynamodb } from './dynamodb-engine.ts';
import { PRIVATE_FOLDER } from './private-files.ts';
import { startSqs } from './sqs-engine.ts';

/** What a mesh stands on, embedded in this process. */
export interface Engines {
  readonly sqsEndpoint: string;
  /** Path style; the same server. */
  readonly s3Endpoint: string;
  readonly dynamodbEndpoint: string;
  /** Nothing is left behind: no port, no lock, no handle. Whoever polls has to be stopped before. */
  close(): Promise<void>;
}

export interface EnginesOptions {
  /** Where the data lasts; in memory without. One process at a time. */
  readonly dataDir?: string;
  /** Any free one without. */
  readonly sqsPort?: number;
  readonly dynamodbPort?: number;
}

/** The only one there is: by another the engine would take a queue for another one. */
export const LOCAL_REGION = 'us-east-1';

export async function startEngines(
  options: EnginesOptions = {},
): Promise<{ engines: Engines } | { problem: string }> {
  const { dataDir, sqsPort = 0, dynamodbPort = 0 } = options;
  const folderOf = (name: string) => (dataDir === undefined ? undefined : join(dataDir, name));
  try {
    if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: PRIVATE_FOLDER });
    // First SQS: its database is the lock on the whole folder.
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

/** Why the engines did not start, in a sentence with what to do. */
function problemFrom(error: unknown, dataDir: string | undefined): string {
  const { code, message, port, errcode, cause } = error as Error & Partial<SystemProblem>;
  if (code === 'EADDRINUSE')
    return `port ${port} of 127.0.0.1 is taken; stop what listens there, or choose another port`;
  if (code === 'EACCES' && port !== undefined)
    return `port ${port} may not be listened on by this user; choose one above 1023`;
  if (dataDir === undefined) return `the embedded engines did not start: ${message}`;
  if (errcode === SQLITE_BUSY)
    return `the data in ${dataDir} is in use by another mesh; stop that one, or choose another folder`;
  const why = cause instanceof Error ? cause.message : message;
  return `the data in ${dataDir} cannot be used: ${why}; mend or remove the folder, or choose another one`;
}

interface SystemProblem {
  readonly code: string;
  readonly port: number;
  /** SQLite's own. */
  readonly errcode: number;
  readonly cause: unknown;
}

const SQLITE_BUSY = 5;
