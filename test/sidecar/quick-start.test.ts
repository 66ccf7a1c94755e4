import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsIn, pythonRuntime, saying, startShell, startSidecar, until } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** The quick start for an end actor. The one for RabbitMQ is in rabbitmq.slow.test.ts. */

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink');
});
afterAll(() => stage.close());

describe('an end actor called x-sink, without storage', () => {
  test('logs that it waits for its runtime, then calls it and consumes the envelope', async () => {
    const socket = join(stage.folder, 'app.sock');
    const counter = join(stage.folder, 'calls');
    const sidecar = startSidecar({
      ASYA_ACTOR_NAME: 'x-sink',
      ASYA_IS_END_ACTOR: 'true',
      // Both have defaults that may be in use on this machine.
      ASYA_SQS_ENDPOINT: stage.sqs.endpoint,
      ASYA_SOCKET_PATH: socket,
      ASYA_METRICS_ADDR: '',
    });
    await sidecar.untilLine(({ message }) => String(message).startsWith('this is an ordinary end actor'));
    expect(await sidecar.untilLine(saying('waiting for the runtime'))).toMatchObject({
      level: 'warn',
      address: `unix:${socket}`,
      waitedMs: expect.any(Number),
      problem: expect.stringContaining('ENOENT'),
    });
    startShell(pythonRuntime('behaviours.handle'), { ASYA_RUNTIME_URL: `unix:${socket}` });
    expect(await sidecar.untilLine(saying('the runtime is ready'))).toMatchObject({ level: 'info' });

    const failed = {
      id: 'failed-1',
      route: { prev: ['score'], curr: '', next: [] },
      payload: { counter, value: 'discarded' },
      status: { phase: 'failed', reason: 'RuntimeError', actor: 'score' },
    };
    await stage.sqs.send('x-sink', JSON.stringify(failed));
    const delivery = await sidecar.untilLine(saying('delivery'));
    expect(delivery).toMatchObject({ envelopeId: 'failed-1', settle: 'ack', outcome: 'end_consumed' });
    expect(delivery).not.toHaveProperty('to');
    expect(callsIn(counter)).toBe(1);
    await until(async () => {
      const { visible, hidden, delayed } = await stage.sqs.counts('x-sink');
      return visible + hidden + delayed === 0;
    }, 'it is acked');
    sidecar.signal('SIGTERM');
    expect(await sidecar.untilExit()).toMatchObject({ code: 0 });
  });
});
