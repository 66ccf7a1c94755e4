import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { BuildAppOptions } from 'fauxqs';

type Stores = NonNullable<BuildAppOptions['stores']>;
type SqsStore = Stores['sqsStore'];
type SqsQueue = ReturnType<SqsStore['createQueue']>;

/** Stores that last, for `buildApp`. */
export interface PersistentStores {
  readonly stores: Stores;
  close(): void;
}

/** What of its parts is used here; they are not exported, so the package's exact version counts. */
interface Parts {
  readonly SqsStore: new () => SqsStore;
  readonly SnsStore: new () => Stores['snsStore'];
  readonly S3Store: new () => Stores['s3Store'];
  readonly PersistenceManager: new (folder: string) => Persistence;
}

interface Persistence {
  readonly db: DatabaseSync;
  load(sqs: SqsStore, sns: Stores['snsStore'], s3: Stores['s3Store']): void;
  transaction(act: () => void): void;
  updateMessageReady(messageId: string): void;
  close(): void;
}

/**
 * `buildApp` has no persistence of its own, and `startFauxqs`, which has, listens on all interfaces.
 *
 * What lasts, also over a SIGKILL: queues with their attributes, messages with their delays and receive counts, what
 * was dead-lettered, buckets and objects. Each is in the database before the request is answered. A power cut may take
 * the last seconds, but never breaks the file. What does not last: the numbers of FIFO deduplication.
 *
 * Whoever worked on a message when the process ended is gone with it, so messages in flight are visible again at the
 * next start, with the receive count that they had.
 */
export async function persistentStores(folder: string): Promise<PersistentStores> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = await loadParts();
  const persistence = new PersistenceManager(folder);
  try {
    takeAlone(persistence.db);
    persistence.db.exec('UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL');
    mend(persistence);
    const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
    keepReceivesWhole(stores.sqsStore, persistence);
    persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
    // Only now: a queue that is loaded would be written again, and its messages deleted with the old row.
    const writer = persistence as never;
    for (const store of Object.values(stores)) store.persistence = writer;
    for (const queue of stores.sqsStore.allQueues()) queue.persistence = writer;
    return { stores, close: () => persistence.close() };
  } catch (error) {
    persistence.close();
    throw error;
  }
}

/** A second process on the same data would answer from a memory of its own. The lock is gone with its holder. */
function takeAlone(db: DatabaseSync): void {
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; COMMIT');
}

/** Its own statement sets the receive count to NULL, which the table refuses, and the message would be gone from memory. */
function mend(persistence: Persistence): void {
  const release = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    release.run(messageId);
  };
}

/** A receive that dead-letters deletes in one statement and inserts in the next: a kill between them would lose it. */
function keepReceivesWhole(store: SqsStore, persistence: Persistence): void {
  const createQueue = store.createQueue.bind(store);
  store.createQueue = (...told) => {
    const queue = createQueue(...told);
    const dequeue = queue.dequeue.bind(queue);
    queue.dequeue = (...asked) => {
      let received: ReturnType<SqsQueue['dequeue']> = [];
      persistence.transaction(() => {
        received = dequeue(...asked);
      });
      return received;
    };
    return queue;
  };
}

async function loadParts(): Promise<Parts> {
  const folder = join(dirname(findPackageJSON('fauxqs', import.meta.url) ?? ''), 'dist');
  const files = ['sqs/sqsStore.js', 'sns/snsStore.js', 's3/s3Store.js', 'persistence.js'];
  const parts = await Promise.all(files.map((file) => import(pathToFileURL(join(folder, file)).href)));
  return Object.assign({}, ...parts) as Parts;
}
