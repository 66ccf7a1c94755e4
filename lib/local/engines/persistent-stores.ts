import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { BuildAppOptions } from 'fauxqs';

type Stores = NonNullable<BuildAppOptions['stores']>;
type SqsStore = Stores['sqsStore'];
type SqsQueue = ReturnType<SqsStore['createQueue']>;

/** Persistent stores for `buildApp`. */
export interface PersistentStores {
  readonly stores: Stores;
  close(): void;
}

/** Internal modules of fauxqs that are used here. They are not exported, so the exact version of the package matters. */
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
 * Adds persistence to `buildApp`, which has none. `startFauxqs` has it, but listens on all interfaces.
 *
 * These survive a SIGKILL: queues with their attributes, messages with their delays and receive counts, dead-lettered
 * messages, buckets and objects. Each is in the database before the request is answered. A power failure may lose the last
 * seconds, but does not corrupt the file. FIFO deduplication ids are not persistent.
 *
 * Consumers end together with this process, so messages in flight are visible again after the next start, with their
 * receive count.
 */
export async function persistentStores(folder: string): Promise<PersistentStores> {
  const { SqsStore, SnsStore, S3Store, PersistenceManager } = await loadParts();
  const persistence = new PersistenceManager(folder);
  try {
    lockDatabase(persistence.db);
    persistence.db.exec('UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL');
    fixRelease(persistence);
    const stores = { sqsStore: new SqsStore(), snsStore: new SnsStore(), s3Store: new S3Store() };
    makeReceivesAtomic(stores.sqsStore, persistence);
    persistence.load(stores.sqsStore, stores.snsStore, stores.s3Store);
    // Set after loading, because otherwise loading a queue writes it again and deletes its messages with the old row.
    const writer = persistence as never;
    for (const store of Object.values(stores)) store.persistence = writer;
    for (const queue of stores.sqsStore.allQueues()) queue.persistence = writer;
    return { stores, close: () => persistence.close() };
  } catch (error) {
    persistence.close();
    throw error;
  }
}

/** Prevents a second process on the same data, which would have its own state in memory. The lock ends with the process. */
function lockDatabase(db: DatabaseSync): void {
  db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; COMMIT');
}

/** The original statement sets the receive count to NULL, which the table rejects, and the message is lost in memory. */
function fixRelease(persistence: Persistence): void {
  const release = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => {
    release.run(messageId);
  };
}

/** A receive that dead-letters a message deletes and inserts it in two statements. A kill in between would lose it. */
function makeReceivesAtomic(store: SqsStore, persistence: Persistence): void {
  const createQueue = store.createQueue.bind(store);
  store.createQueue = (...args) => {
    const queue = createQueue(...args);
    const dequeue = queue.dequeue.bind(queue);
    queue.dequeue = (...dequeueArgs) => {
      let received: ReturnType<SqsQueue['dequeue']> = [];
      persistence.transaction(() => {
        received = dequeue(...dequeueArgs);
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
