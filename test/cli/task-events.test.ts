import { describe, expect, it } from 'vitest';
import { taskEventLines } from '../../lib/cli/output/task-events.ts';
import { applyReports } from '../../lib/core/task/task-report.ts';
import { NOW } from '../core/a-delivery.ts';
import { anUpdate, aStep, aTask } from '../core/a-task.ts';
import { memoryTasks } from '../gateway/memory-stores.ts';

describe('the event lines of a task', () => {
  it("contain a handler's progress as one line of plain text", async () => {
    const reports = [
      aStep('processing', 1),
      anUpdate(1, 1, { percent: 12.5, message: 'frame 1\n\u001b[31mof 8' }),
      anUpdate(1, 1, { envelope_id: 'c-1', message: 'mine' }),
    ];
    const tasks = memoryTasks();
    await tasks.create(applyReports(aTask(), reports, NOW));
    const lines = await taskEventLines('t-1', tasks);
    expect(lines.map((line) => line.slice(13))).toEqual([
      'created: pending',
      'processing at score: running',
      'progress at score: running, 12.5 %, frame 1 of 8',
      'progress at score: running, mine (child c-1)',
    ]);
  });
});
