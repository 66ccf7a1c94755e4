import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAlive, pidsIn } from '../support/pids.ts';
import { type Arrived, envelopeAt } from './envelopes.ts';
import { pythonRuntime, saying, startProcess, startSidecar, until } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** A sidecar that is killed at the worst moments: nothing is lost, and its runtime ends with it. */

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink');
});
afterAll(() => stage.close());

describe.concurrent('SIGKILL of the sidecar', () => {
  test.each([
    ['after receive', 'received', 0],
    ['after the call', 'called', 0],
    ['after the send', 'sent', 3],
    ['before the ack', 'settle', 3],
  ])('%s', async (point, step, alreadySent) => {
    const actor = `killed-${step}`;
    const next = `after-${step}`;
    const pidFile = join(stage.folder, `${actor}.pid`);
    const variables = stage.variables(actor, {
      ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
      PID_FILE: pidFile,
    });
    await stage.sqs.createQueue(actor);
    await stage.sqs.createQueue(next);
    const route = { prev: [], curr: actor, next: [next] };
    const parent = envelopeAt(actor, { value: ['first', 'second', 'third'] }, { route });
    const behind = envelopeAt(actor, { value: 'behind' }, { route });
    await stage.send(parent);

    const doomed = startProcess([join(import.meta.dirname, 'freeze-at.ts'), step], variables);
    await doomed.untilLine(saying('frozen'));
    await stage.send(behind);
    const before = await stage.inbox.rest(next);
    expect(before.length).toBe(alreadySent);
    const idsBefore = new Map(before.map(({ id, payload }) => [payload, id]));
    for (const { id } of before) await stage.inbox.next(next, id);
    const [runtimePid = 0] = pidsIn(pidFile);
    expect(isAlive(runtimePid)).toBe(true);

    const killedAt = Date.now();
    doomed.signal('SIGKILL');
    await until(() => !isAlive(runtimePid), 'the runtime of the killed sidecar is gone');
    const goneMs = Date.now() - killedAt;
    await stage.sqs.expireVisibility(actor);
    startSidecar(variables);

    const arrivals = await Promise.all([
      ...['first', 'second', 'third'].map((payload) =>
        stage.inbox.nextWhere(next, isItemOf(parent.id, payload), payload),
      ),
      stage.inbox.next(next, behind.id),
    ]);
    const tookMs = Math.min(...arrivals.map(({ arrivedAt }) => arrivedAt)) - killedAt;
    const againMs = (arrivals[0]?.arrivedAt ?? 0) - killedAt;
    console.log(
      `killed ${point}: runtime gone after ${goneMs} ms, ` +
        `next envelope processed after ${tookMs} ms, the one in process after ${againMs} ms`,
    );
    const [first, ...children] = arrivals;
    expect(first?.id).toBe(parent.id);
    expect(children.slice(0, 2).every(({ parent_id }) => parent_id === parent.id)).toBe(true);
    // Envelopes sent before the kill arrive again with the same ids, so the next actor can recognize them.
    for (const { id, payload } of arrivals.slice(0, 3)) {
      if (alreadySent > 0) expect(idsBefore.get(payload)).toBe(id);
    }
    for (const { status } of arrivals) expect(status).toMatchObject({ phase: 'pending', attempt: 1 });
    await until(async () => {
      const { visible, hidden, delayed } = await stage.sqs.counts(actor);
      return visible + hidden + delayed === 0;
    }, 'all messages are acknowledged');
    expect((await stage.sqs.counts(`${actor}-dlq`)).visible).toBe(0);
  });
});

function isItemOf(parentId: string, payload: string): (envelope: Arrived) => boolean {
  return (envelope) =>
    (envelope.id === parentId || envelope.parent_id === parentId) && envelope.payload === payload;
}
