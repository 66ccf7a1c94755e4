import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { Wire } from '../../sidecar/envelopes.ts';
import {
  plainEnvironment,
  type RunningProcess,
  type Variables,
  watchProcess,
  within,
} from '../../sidecar/sidecar-process.ts';
import type { Stage } from '../../sidecar/stage.ts';
import type { Reply } from './lambda-host.ts';

/** A function's handler in its own process, as on Lambda. */
export interface LambdaProcess extends RunningProcess {
  /** Resolves once the module is loaded: Lambda's init phase. */
  readonly loaded: Promise<void>;
  invoke(records: readonly SQSRecord[], timeLeftMs?: number): Promise<SQSBatchResponse>;
}

/** Long enough for a busy machine. */
const REPLY_TIMEOUT_MS = 100_000;

/** As a deployed function has them: without a URL, its runtime inherits descriptors. */
export function functionVariables(stage: Stage, actor: string, more: Variables): Variables {
  const { ASYA_RUNTIME_URL: _none, ...variables } = stage.variables(actor);
  return { ...variables, ...more };
}

/** @param name the function's folder in `functions/` */
export function startLambda(variables: Variables, name = 'sidecar'): LambdaProcess {
  const child = fork(join(import.meta.dirname, 'lambda-host.ts'), [name], {
    env: plainEnvironment({ POWERTOOLS_SERVICE_NAME: 'asya', ...variables }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const running = watchProcess(child);
  const nextReply = (): Promise<Reply> =>
    within(
      Promise.race([
        new Promise<Reply>((resolve) => child.once('message', (message) => resolve(message as Reply))),
        running.exited.then(() => {
          throw new Error(`the handler's process ended:\n${running.output()}`);
        }),
      ]),
      REPLY_TIMEOUT_MS,
      () => `no reply:\n${running.output()}`,
    );
  const loaded = nextReply().then(() => {});
  loaded.catch(() => {});
  return {
    ...running,
    loaded,
    invoke: async (records, timeLeftMs = 60_000) => {
      await loaded;
      const replying = nextReply();
      child.send({ event: eventOf(records), timeLeftMs });
      const reply = await replying;
      if ('error' in reply) throw new Error(reply.error);
      return (reply as { response: SQSBatchResponse }).response;
    },
  };
}

export function eventOf(records: readonly SQSRecord[]): SQSEvent {
  return { Records: [...records] };
}

/** A record of an event from SQS. */
export function recordOf(queue: string, body: Wire | string, more: Partial<SQSRecord> = {}): SQSRecord {
  return {
    messageId: randomUUID(),
    receiptHandle: 'handle',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: String(Date.now()),
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: String(Date.now()),
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
    awsRegion: 'us-east-1',
    ...more,
  };
}
