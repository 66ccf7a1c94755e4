import { DatabaseSync } from 'node:sqlite';
import type { Publication } from '../../core/pipeline/plan-delay.ts';

export interface Timer {
  readonly key: number;
  readonly name: string;
  readonly dueMs: number;
  readonly topic: string;
  /** Attempts to publish it that were refused. */
  readonly refusals: number;
}

/**
 * Timers in a database file, for one process at a time. What was added is on the disk, also when the power goes; that one
 * fired survives a kill, but not always a power cut, after which it fires once more.
 */
export interface TimerStore {
  /** False where there is, or lately was, one of that queue and name. */
  add(publication: Publication): boolean;
  /** Those to fire next, the earliest first. */
  first(most: number): readonly Timer[];
  /** The request that publishes it. */
  body(timer: Timer): string;
  fired(timer: Timer, now: number): void;
  putOff(timer: Timer, untilMs: number): void;
  /** Forgets the names of those that fired before then. */
  forget(firedBeforeMs: number): void;
  /** How many are still to fire. */
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

/** Throws where the file is no database of timers, or another process has it. */
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
    first: (most) => first.all(most) as unknown as readonly Timer[],
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

/** Whether the next write waits for the disk: most of what a write costs. */
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
    const words = message.includes('locked')
      ? 'another process has it open; end that one'
      : `${message}; mend or remove it`;
    throw new Error(`the timer file ${path} cannot be used: ${words}, or name another file`);
  }
}
