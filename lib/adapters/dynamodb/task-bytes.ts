import { gunzipSync, gzipSync } from 'node:zlib';
import type { Task } from '../../core/task/task.ts';

/** An item is limited to 400 KB, including its other attributes and their names. */
const MAX_BYTES = 350 * 1024;

/** Compresses about 100:1, because each event repeats the route. If the task is still too large, drops old events. */
export function bytesFromTask(task: Task): Uint8Array {
  let { events } = task;
  for (;;) {
    const bytes = gzipSync(JSON.stringify({ ...task, events }), { level: 1 });
    if (bytes.length <= MAX_BYTES || events.length <= 1) return bytes;
    events = events.slice(Math.ceil(events.length / 2));
  }
}

export function taskFromBytes(bytes: Uint8Array | undefined): Task | undefined {
  return bytes === undefined ? undefined : (JSON.parse(gunzipSync(bytes).toString('utf8')) as Task);
}
