import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type TimerFile, timerFile } from '../../../lib/adapters/timer-file/timer-file.ts';
import type { Publication } from '../../../lib/core/pipeline/plan-delay.ts';
import type { Reply } from '../../../lib/ports/reply.ts';
import { type VirtualClock, virtualClock } from '../../app/virtual-clock.ts';
import { aFolder } from '../../support/a-folder.ts';

interface Published {
  readonly topic: string;
  readonly body: string;
  readonly atMs: number;
}

/** A timer file in virtual time, and the messages that it published. */
export interface TimerStage {
  readonly clock: VirtualClock;
  readonly path: string;
  readonly published: Published[];
  readonly warnings: string[];
  /** How the broker replies. Default: it accepts every message. */
  replies: (published: Published) => Promise<Reply>;
  /** Opens the file. If it is open, closes it first. */
  open(): Promise<TimerFile>;
}

export function aTimerStage(): TimerStage {
  const clock = virtualClock();
  const stage: TimerStage = {
    clock,
    path: join(aFolder({}), 'timers.db'),
    published: [],
    warnings: [],
    replies: async () => ({ ok: true }),
    open: async () => {
      await close();
      current = timerFile({
        path: stage.path,
        clock,
        publish: async (topic, body) => {
          const published = { topic, body, atMs: clock.now() };
          const reply = await stage.replies(published);
          if (reply.ok) stage.published.push(published);
          return reply;
        },
        onWarning: (what) => stage.warnings.push(what),
      });
      return current;
    },
  };
  let current: TimerFile | undefined;
  async function close(): Promise<void> {
    const closing = current?.close();
    current = undefined;
    if (closing !== undefined) await clock.passUntilSettled(closing);
  }
  onTestFinished(close);
  return stage;
}

export function aPublication(changes: Partial<Publication> = {}): Publication {
  return {
    name: 'one',
    queue: 'q/default',
    dueMs: 0,
    topic: 'projects/shop/topics/orders',
    body: '{"messages":[{"data":"MQ=="}]}',
    ...changes,
  };
}
