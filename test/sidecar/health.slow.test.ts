import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { envelopeAt } from './envelopes.ts';
import {
  metricsPort,
  nodeRuntime,
  pythonRuntime,
  saying,
  startSidecar,
  until,
  untilWorking,
} from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** The health endpoints, and sidecars whose queue or runtime is missing. */

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink');
});
afterAll(() => stage.close());

const IN_PYTHON = { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') };

async function get(port: number, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(30_000) });
  return { status: response.status, text: await response.text() };
}

describe.concurrent('health', () => {
  test('serves /healthz, /readyz and /metrics, and names them for any other path', async () => {
    const sidecar = await stage.sidecar('well', { ...IN_PYTHON, ASYA_METRICS_ADDR: '127.0.0.1:0' });
    const port = await metricsPort(sidecar);
    expect(await get(port, '/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get(port, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
    expect((await get(port, '/metrics')).status).toBe(200);
    expect(await get(port, '/')).toEqual({
      status: 404,
      text: 'not found; available: /healthz, /readyz, /metrics\n',
    });
  });

  test('is alive but not ready while the queue is missing', async () => {
    const sidecar = startSidecar(
      stage.variables('queueless', {
        ...IN_PYTHON,
        ASYA_METRICS_ADDR: '127.0.0.1:0',
        ASYA_QUEUE_RETRY_BACKOFF: '200ms',
        ASYA_QUEUE_RETRY_MAX_ATTEMPTS: '50',
      }),
    );
    const port = await metricsPort(sidecar);
    await untilWorking(sidecar);
    expect(await get(port, '/healthz')).toMatchObject({ status: 200 });
    expect(await get(port, '/readyz')).toEqual({ status: 503, text: 'queue "queueless" does not exist\n' });
    await stage.sqs.createQueue('queueless');
    const envelope = envelopeAt('queueless', { value: 'back' });
    await stage.send(envelope);
    expect((await stage.inbox.next('x-sink', envelope.id)).payload).toBe('back');
    expect(await get(port, '/readyz')).toMatchObject({ status: 200 });
  });

  test('exits with status 1 if the queue stays missing', async () => {
    const sidecar = startSidecar(
      stage.variables('abandoned', {
        ...IN_PYTHON,
        ASYA_QUEUE_RETRY_BACKOFF: '10ms',
        ASYA_QUEUE_RETRY_MAX_ATTEMPTS: '3',
      }),
    );
    expect(await sidecar.untilExit()).toEqual({ code: 1, signal: null });
    expect(sidecar.lines.find(saying('sidecar ended'))).toMatchObject({
      why: 'queue-missing',
      problem: expect.stringMatching(/queue "abandoned" does not exist: .* set ASYA_QUEUE_AUTO_CREATE=true/),
    });
    expect(sidecar.lines.filter(saying('receiving failed')).length).toBe(3);
  });

  test('creates the queue and its dead-letter queue with ASYA_QUEUE_AUTO_CREATE', async () => {
    const sidecar = startSidecar(stage.variables('made', { ...IN_PYTHON, ASYA_QUEUE_AUTO_CREATE: 'true' }));
    await untilWorking(sidecar);
    await until(
      () =>
        stage.sqs.counts('made-dlq').then(
          () => true,
          () => false,
        ),
      'the queues exist',
    );
    const envelope = envelopeAt('made', { value: 1 });
    await until(
      () =>
        stage.send(envelope).then(
          () => true,
          () => false,
        ),
      'the queue accepts messages',
    );
    expect((await stage.inbox.next('x-sink', envelope.id)).payload).toBe(1);
  });

  test.each([
    ['Python', 'unloadable-py', pythonRuntime('behavoirs.handle'), /module "behavoirs" was not found/],
    ['Node', 'unloadable-js', nodeRuntime('behaviours.ts.handel'), /handel/],
    ['no command', 'unloadable-sh', 'no-such-command --at-all', /no-such-command.*not found/],
  ])(
    '%s: logs why the runtime cannot be loaded, and is not ready',
    async (_what, actor, command, problem) => {
      await stage.sqs.createQueue(actor);
      const sidecar = startSidecar(
        stage.variables(actor, { ASYA_RUNTIME_COMMAND: command, ASYA_METRICS_ADDR: '127.0.0.1:0' }),
      );
      const port = await metricsPort(sidecar);
      const envelope = envelopeAt(actor, { value: 1 });
      await stage.send(envelope);
      const line = await sidecar.untilLine(
        ({ message, text }) => message === 'runtime' && problem.test(String(text)),
      );
      expect(line).toMatchObject({ actor, stream: 'stderr' });
      expect(await sidecar.untilLine(saying('the runtime ended'))).toMatchObject({ level: 'warn' });
      expect(await get(port, '/readyz')).toEqual({ status: 503, text: 'the runtime is not ready\n' });
      expect(await get(port, '/healthz')).toMatchObject({ status: 200 });
      // It receives nothing while the runtime cannot process it.
      expect(await stage.sqs.counts(actor)).toEqual({ visible: 1, hidden: 0, delayed: 0 });
      expect(sidecar.lines.find(saying('receiving deliveries'))).toBeUndefined();
    },
  );
});
