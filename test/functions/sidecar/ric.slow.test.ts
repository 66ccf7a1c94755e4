import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQSEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RuntimeApi, startRuntimeApi } from '../../../bench/lambda/runtime-api.ts';
import { bundleFunction, unusedPackages } from '../../../infra/code/bundle.ts';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import {
  pythonRuntime,
  ROOT,
  type RunningProcess,
  startProcess,
  temporaryFolder,
  until,
} from '../../sidecar/sidecar-process.ts';
import { type Stage, setStage } from '../../sidecar/stage.ts';
import { isAlive, pidsIn } from '../../support/pids.ts';
import { eventOf, functionVariables, recordOf } from './lambda-process.ts';

/** The deployed bundle with Lambda's Runtime Interface Client. */

const RIC = join(ROOT, 'node_modules/.cache/asya-ric/node_modules/aws-lambda-ric/index.mjs');
const isInstalled = existsSync(RIC);
if (!isInstalled) {
  console.log(
    'skipped: aws-lambda-ric is not installed, because it compiles for two minutes and needs a C++ toolchain; ' +
      'test/functions/sidecar/install-ric.sh installs it',
  );
}

describe.skipIf(!isInstalled)('the bundle with the Runtime Interface Client', () => {
  let stage: Stage;
  let api: RuntimeApi;
  let lambda: RunningProcess;
  const invoke = async (event: SQSEvent, timeLeftMs: number) =>
    (await api.invoke(event, timeLeftMs)).response;
  const pidFile = () => join(stage.folder, 'lambda.pid');

  beforeAll(async () => {
    stage = await setStage('x-sink', 'store', 'score');
    api = await startRuntimeApi();
    const folder = await temporaryFolder();
    const bundle = bundleFunction(join(ROOT, 'functions/sidecar/index.ts'), ROOT, unusedPackages({}));
    writeFileSync(join(folder, 'index.js'), bundle);
    console.log(`the bundle has ${(bundle.length / 1024).toFixed(1)} KB`);
    const startedAt = performance.now();
    lambda = startProcess(
      // The options that Lambda's bootstrap uses.
      ['--no-experimental-require-module', '--no-experimental-detect-module', RIC],
      functionVariables(stage, 'score', {
        AWS_LAMBDA_RUNTIME_API: api.address,
        AWS_LAMBDA_FUNCTION_NAME: 'sidecar',
        AWS_LAMBDA_FUNCTION_VERSION: '1',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
        AWS_LAMBDA_LOG_GROUP_NAME: 'log',
        AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'key-id',
        AWS_SECRET_ACCESS_KEY: 'secret-key',
        AWS_SESSION_TOKEN: 'token',
        LAMBDA_TASK_ROOT: folder,
        _HANDLER: 'index.handler',
        ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
        PID_FILE: pidFile(),
      }),
      folder,
    );
    await until(() => pidsIn(pidFile()).length > 0, 'the runtime is started in the init phase');
    console.log(`its runtime was ready ${Math.round(performance.now() - startedAt)} ms after the start`);
  });
  afterAll(async () => {
    await stage?.close();
    await api?.close();
  });

  test('returns a partial batch response', async () => {
    const route = { prev: [], curr: 'score', next: ['store'] };
    const good = envelopeAt('score', { value: 1 }, { route });
    const refused = envelopeAt('score', { value: 1 }, { route: { ...route, next: ['nowhere'] } });
    const records = [recordOf('score', good), recordOf('score', 'not JSON'), recordOf('score', refused)];
    expect(await invoke(eventOf(records), 60_000)).toEqual({
      batchItemFailures: [{ itemIdentifier: records[2]?.messageId }],
    });
    expect((await stage.inbox.next('store', good.id)).route).toEqual({
      prev: ['score'],
      curr: 'store',
      next: [],
    });
    const isIt = ({ payload }: { payload: unknown }) => (payload as { raw?: string }).raw === 'not JSON';
    await stage.inbox.nextWhere('x-sink', isIt, 'the unreadable message');
  });

  test("respects Lambda's deadline", async () => {
    const late = envelopeAt('score', { value: 1 });
    expect(await invoke(eventOf([recordOf('score', late)]), 3_000)).toEqual({ batchItemFailures: [] });
    const { body: _body, arrivedAt: _at, ...back } = await stage.inbox.next('score', late.id);
    expect(back).toEqual(late);
  });

  test('kills the runtime of a call that hangs, and continues', async () => {
    const hung = envelopeAt('score', { do: 'hang' });
    expect(await invoke(eventOf([recordOf('score', hung)]), 60_000)).toEqual({ batchItemFailures: [] });
    expect((await stage.inbox.next('x-sink', hung.id)).status?.reason).toBe('ActorTimeout');
    const next = envelopeAt('score', { value: 'on' });
    await api.invoke(eventOf([recordOf('score', next)]), 60_000);
    expect((await stage.inbox.next('x-sink', next.id)).payload).toBe('on');
    expect(pidsIn(pidFile()).map(isAlive)).toEqual([false, true]);
  });

  test('passes neither credentials nor the address of the Runtime API to the runtime', async () => {
    const envelope = envelopeAt('score', { do: 'environment' });
    await api.invoke(eventOf([recordOf('score', envelope)]), 60_000);
    const { payload } = await stage.inbox.next('x-sink', envelope.id);
    for (const name of [
      'AWS_ACCESS_KEY_ID',
      'AWS_SECRET_ACCESS_KEY',
      'AWS_SESSION_TOKEN',
      'AWS_LAMBDA_RUNTIME_API',
    ])
      expect(payload).not.toHaveProperty(name);
  });

  test('prints metrics in the embedded metric format', async () => {
    await until(
      () => /"Namespace":"asya_actor".*"MessagesReceivedTotal"/.test(lambda.output()),
      'the metrics',
    );
  });

  test('ends its runtime when it is killed', async () => {
    const pid = pidsIn(pidFile()).at(-1) ?? 0;
    expect(isAlive(pid)).toBe(true);
    lambda.signal('SIGKILL');
    await until(() => !isAlive(pid), 'the runtime has ended');
  });
});
