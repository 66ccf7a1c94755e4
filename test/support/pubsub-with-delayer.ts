import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PubsubClient, pubsubClient } from '../../lib/adapters/pubsub/pubsub-client.ts';
import { DEFAULT_DELAYER_TOPIC } from '../../lib/core/pipeline/delayer.ts';
import { DEFAULT_ERRORS_TOPIC } from '../../lib/core/pipeline/pipeline.ts';
import { startDelayer, urlOf } from '../delayer/delayer-process.ts';
import { PROJECT, startPubsub } from './pubsub.ts';

/** Google's emulator, and the delayer with a timer file in its own process, called by a push subscription. */
export interface PubsubWithDelayer {
  /** `host:port` */
  readonly endpoint: string;
  readonly client: PubsubClient;
  close(): Promise<void>;
}

export async function startPubsubWithDelayer(): Promise<PubsubWithDelayer> {
  const emulator = await startPubsub();
  const { endpoint } = emulator;
  const client = await pubsubClient({ projectId: PROJECT, endpoint });
  const folder = mkdtempSync(join(tmpdir(), 'asya-delayer-'));
  const delayer = startDelayer({
    DELAYER_PROJECT_ID: PROJECT,
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(folder, 'timers'),
    DELAYER_PUSH_AUTH: 'none',
    DELAYER_PUBSUB_ENDPOINT: `http://${endpoint}`,
  });
  const close = async () => {
    delayer.signal('SIGKILL');
    await delayer.exited;
    await client.close();
    await emulator.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    for (const topic of [DEFAULT_DELAYER_TOPIC, DEFAULT_ERRORS_TOPIC])
      await client.publisher.createTopic(topic);
    await client.subscriber.createSubscription({
      name: `projects/${PROJECT}/subscriptions/${DEFAULT_DELAYER_TOPIC}`,
      topic: `projects/${PROJECT}/topics/${DEFAULT_DELAYER_TOPIC}`,
      pushConfig: { pushEndpoint: await urlOf(delayer) },
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, client, close };
}
