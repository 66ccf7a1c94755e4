import { DatabaseSync } from 'node:sqlite';
import type { Publication } from '../../core/pipeline/plan-delay.ts';

export interface Timer {
  readonly key: number;
  readonly name: string;
  readonly dueMs: number;
  readonly topic: string;
  /** How many attempts to publish it were refused. */
  readonly refusals: number;
}

/**
 * Timers in a database file, for one process at a time. An added timer survives a power failure. That a timer has fired
 * survives a crash of the process, but not always a power failure, after which it fires once more.
 */
export interface TimerStore {
  /** Returns false if a timer of this queue and name exists, or has fired recently. */
  add(publication: Publication): boolean;
  /** The next timers to fire, the earliest first. */
  first(limit: number): readonly Timer[];
  /** The body of the publish request. */
  body(timer: Timer): string;
  fired(timer: Timer, now: number): void;
  putOff(timer: Timer, untilMs: number): void;
  /** Removes timers that fired before this time, so that their names can be used again. */
  forget(firedBeforeMs: number): void;
  /** How many timers have not fired. */
  count(): number;
  close(): void;
}

const SCHEMA = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS timer (
    key INTEGER PRIMARY KEY,
    queue TEXT NOT NULL,
    name TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    topic TEXT NOT NULL,
    body TEXT NOT NULL,
    refusals INTEGER NOT NULL DEFAULT 0,
    fired_ms INTEGER,
    UNIQUE (queue, name)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS waiting ON timer (due_ms) WHERE fired_ms IS NULL;
  CREATE INDEX IF NOT EXISTS fired ON timer (fired_ms) WHERE fired_ms IS NOT NULL;
`;

/** Throws if the file is not a database of timers, or if another process has it open. */
export function openTimerStore(path: string): TimerStore {
  const db = openWithSchema(path);
  const add = db.prepare(
    'INSERT INTO timer (queue, name, due_ms, topic, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const first = db.prepare(`
    SELECT key, name, due_ms AS dueMs, topic, refusals
    FROM timer WHERE fired_ms IS NULL ORDER BY due_ms LIMIT ?`);
  const body = db.prepare('SELECT body FROM timer WHERE key = ?');
  const fired = db.prepare("UPDATE timer SET fired_ms = ?, body = '' WHERE key = ?");
  const putOff = db.prepare('UPDATE timer SET due_ms = ?, refusals = refusals + 1 WHERE key = ?');
  const forget = db.prepare('DELETE FROM timer WHERE fired_ms < ?');
  const count = db.prepare('SELECT count(*) AS timers FROM timer WHERE fired_ms IS NULL');
  const syncs = syncsOf(db);
  return {
    add: ({ queue, name, dueMs, topic, body: text }) => {
      syncs.choose('FULL');
      return add.run(queue, name, dueMs, topic, text).changes === 1;
    },
    first: (limit) => first.all(limit) as unknown as readonly Timer[],
    body: ({ key }) => body.get(key)?.['body'] as string,
    fired: ({ key }, now) => {
      syncs.choose('NORMAL');
      fired.run(now, key);
    },
    putOff: ({ key }, untilMs) => {
      syncs.choose('NORMAL');
      putOff.run(untilMs, key);
    },
    forget: (beforeMs) => {
      syncs.choose('NORMAL');
      forget.run(beforeMs);
    },
    count: () => count.get()?.['timers'] as number,
    close: () => db.close(),
  };
}

/** Selects whether the next write waits for the disk, which takes most of its time. */
function syncsOf(db: DatabaseSync): { choose(level: 'FULL' | 'NORMAL'): void } {
  let current: string | undefined;
  return {
    choose: (level) => {
      if (level !== current) db.exec(`PRAGMA synchronous = ${level}`);
      current = level;
    },
  };
}

function openWithSchema(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec(SCHEMA);
    return db;
  } catch (error) {
    db?.close();
    const { message } = error as Error;
    const reason = message.includes('locked')
      ? 'another process has it open; stop that process'
      : `${message}; repair or remove it`;
    throw new Error(`the timer file ${path} cannot be used: ${reason}, or configure another file`);
  }
}
