import { gunzipSync, gzipSync } from 'node:zlib';
import type { Task } from '../../core/task/task.ts';

/** An item has 400 KB at the most, its other attributes and the names included. */
const MAX_BYTES = 350 * 1024;

/** Its events repeat the route again and again: packed, they are a hundredth. What does not fit is the oldest of them. */
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
