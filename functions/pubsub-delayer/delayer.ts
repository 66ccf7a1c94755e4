import { cloudTasks } from '../../lib/adapters/cloud-tasks/cloud-tasks.ts';
import { fixedAccessToken, metadataAccessToken } from '../../lib/adapters/google-metadata/access-token.ts';
import type { JsonLog } from '../../lib/adapters/log/json-log.ts';
import { publishIfSubscribed } from '../../lib/adapters/pubsub/publish-if-subscribed.ts';
import { messageFromPush } from '../../lib/adapters/pubsub/push-message.ts';
import type { RestOptions } from '../../lib/adapters/pubsub/rest-call.ts';
import {
  type PushResponse,
  type PushServerOptions,
  pushServer,
} from '../../lib/adapters/push-http/push-server.ts';
import { deriveId, systemClock } from '../../lib/adapters/system/system.ts';
import { timerFile } from '../../lib/adapters/timer-file/timer-file.ts';
import { type Delayer, type DelayerFact, delayMessage } from '../../lib/app/delayer/delay-message.ts';
import { pushAuthenticationFromConfig } from '../../lib/assembly/hosts/authenticate-push.ts';
import type { DelayerConfig } from '../../lib/config/settings/delayer-config.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { timestampText } from '../../lib/core/text/timestamp.ts';
import type { AccessToken, PublishRequest } from '../../lib/ports/publish-request.ts';
import type { ScheduledPublish } from '../../lib/ports/scheduled-publish.ts';

export interface RunningDelayer {
  readonly port: number;
  /** Rejects new pushes, waits up to the grace period for those in progress, and closes everything. */
  stop(): Promise<void>;
}

/** Rejects if the delayer cannot start: the port is in use, or another process has the timer file open. */
export async function startDelayer(
  config: DelayerConfig,
  log: JsonLog,
  /** Options of its HTTP server. Default: it listens on every address, and `guard` rejects no requests. */
  server: Pick<PushServerOptions, 'host' | 'guard'> = {},
): Promise<RunningDelayer> {
  const accessToken =
    config.accessToken === undefined
      ? metadataAccessToken({ ...hostOf(config), now: systemClock.now })
      : fixedAccessToken(config.accessToken);
  const publish = publishIfSubscribed(restOf(config, accessToken));
  const engine = engineFor(config, accessToken, publish, log);
  const delayer: Delayer = {
    rules: { project: config.project, queues: config.queues, deriveId, countBytes: Buffer.byteLength },
    schedule: engine.schedule,
    publish,
    errorsTopic: config.errorsTopic,
    onFact: (fact) => logFact(fact, log),
  };
  const pushes = await pushServer({
    ...server,
    port: config.port,
    refuse: pushAuthenticationFromConfig(config.push, log),
    onPush: (body) => processPush(body, delayer),
    liveness: () => undefined,
    onWarning: log.warn,
  }).catch(async (error) => {
    // Open timers would keep the process running and the timer file locked.
    await engine.close();
    throw error;
  });
  return {
    port: pushes.port,
    stop: async () => {
      const over = new AbortController();
      await Promise.race([pushes.drain(), systemClock.sleep(config.gracePeriodMs, over.signal)]);
      over.abort();
      await pushes.close();
      await engine.close();
    },
  };
}

async function processPush(body: string, delayer: Delayer): Promise<PushResponse> {
  const message = messageFromPush(body);
  if ('problem' in message) return { status: 400, problem: message.problem };
  const settle = await delayMessage(message, delayer);
  return settle === 'ack'
    ? { status: 204 }
    : { status: 503, problem: 'the message was not stored; deliver it again' };
}

/** The access token is sent to Google's Pub/Sub only, never to another endpoint. */
function restOf({ pubSubEndpoint }: DelayerConfig, accessToken: AccessToken): RestOptions {
  return pubSubEndpoint === undefined ? { accessToken } : { endpoint: pubSubEndpoint };
}

function engineFor(
  { engine, pubSubEndpoint }: DelayerConfig,
  accessToken: AccessToken,
  publish: PublishRequest,
  log: JsonLog,
): ScheduledPublish {
  switch (engine.kind) {
    case 'cloud-tasks': {
      const { serviceAccount, endpoint } = engine;
      return cloudTasks({
        accessToken,
        serviceAccount,
        ...defined({ endpoint, pubSubEndpoint }),
      });
    }
    case 'timer-file': {
      const { path } = engine;
      const timers = timerFile({ path, publish, clock: systemClock, onWarning: log.warn });
      const { waiting } = timers;
      const message = 'a timer file replaces Cloud Tasks: use it on one machine, not in production';
      log.line('warn', message, { path, waiting });
      return timers;
    }
  }
}

function logFact(fact: DelayerFact, { line }: JsonLog): void {
  if (fact.fact === 'scheduled') {
    const { messageId, topic, dueMs, isNew } = fact;
    line('info', 'scheduled', { messageId, topic, dueAt: timestampText(dueMs), isNew });
  } else if (fact.fact === 'refused') {
    const { messageId, reason, problem } = fact;
    line('error', 'the message cannot be delayed; it was published to the errors topic', {
      messageId,
      reason,
      problem,
    });
  } else {
    const { messageId, problem } = fact;
    line('error', 'the message was not stored; Pub/Sub delivers it again', { messageId, problem });
  }
}

function hostOf({ metadataHost }: DelayerConfig): { readonly host?: string } {
  return defined({ host: metadataHost });
}
