import { type LambdaProcess, startLambda } from '../functions/sidecar/lambda-process.ts';
import { envelopeAt, type Wire, type WireStatus } from '../sidecar/envelopes.ts';
import { endProcesses, type RunningProcess, startSidecar, untilWorking } from '../sidecar/sidecar-process.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';
import { type FakeGateway, startFakeGateway } from './fake-gateway.ts';

/** Queues, a bucket, a table and a fake gateway for the crew under test. Each test file has its own. */
export interface CrewStage extends EmbeddedStores {
  readonly gateway: FakeGateway;
  variablesOf(name: string, more?: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  /** Starts a function and waits until it is loaded. */
  function(name: string, more?: Readonly<Record<string, string>>): Promise<LambdaProcess>;
  /** Starts a long-running worker and waits until it is working. */
  worker(name: string, more?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** The archived object of an envelope, and its key. Rejects unless there is exactly one. */
  archived(id: string): Promise<{ readonly key: string; readonly text: string; readonly envelope: Wire }>;
  keysOf(id: string): Promise<readonly string[]>;
  /** How often the envelope is in the bucket, in objects of its own and in batches. */
  copiesOf(id: string): Promise<number>;
}

/** Every payload contains this text, and no log line may. */
export const SECRET = 'the-secret-of-the-payload';
export const PAYLOAD = { n: 1, secret: SECRET };

export async function setCrewStage(...queues: readonly string[]): Promise<CrewStage> {
  const embedded = await startEmbeddedStores();
  const gateway = await startFakeGateway();
  for (const queue of queues) await embedded.sqs.createQueue(queue);
  const variablesOf: CrewStage['variablesOf'] = (name, more = {}) => ({
    ASYA_ACTOR_NAME: name,
    ...embedded.variables,
    ASYA_GATEWAY_URL: `${gateway.endpoint}/mesh/`,
    ASYA_SQS_WAIT_TIME_SECONDS: '1',
    ASYA_METRICS_ADDR: '',
    ASYA_LOG_LEVEL: 'debug',
    ...more,
  });
  const keysOf = async (id: string) =>
    (await embedded.keys()).filter((key) => key.endsWith(`/${encodeURIComponent(id)}.json`));
  return {
    ...embedded,
    gateway,
    variablesOf,
    function: async (name, more) => {
      const lambda = startLambda(variablesOf(name, more), name);
      await lambda.loaded;
      return lambda;
    },
    worker: async (name, more) => {
      const worker = startSidecar(variablesOf(name, more));
      await untilWorking(worker);
      return worker;
    },
    archived: async (id) => {
      const [key, ...others] = await keysOf(id);
      if (key === undefined || others.length > 0)
        throw new Error(`expected one archived object of ${id}, got ${[key, ...others]}`);
      const text = await embedded.object(key);
      return { key, text, envelope: JSON.parse(text) as Wire };
    },
    keysOf,
    copiesOf: async (id) => {
      const texts = await Promise.all((await embedded.keys()).map((key) => embedded.object(key)));
      return texts.reduce((count, text) => count + text.split(`"id":${JSON.stringify(id)}`).length - 1, 0);
    },
    close: async () => {
      await endProcesses();
      await gateway.close();
      await embedded.close();
    },
  };
}

/** An envelope at the end of its route, completed by `score`. */
export function ended(status: WireStatus = {}, more: Partial<Wire> = {}): Wire {
  return envelopeAt('', PAYLOAD, {
    route: { prev: ['fetch', 'score'], curr: '', next: [] },
    status: {
      phase: 'succeeded',
      reason: 'Completed',
      actor: 'score',
      attempt: 1,
      created_at: '2026-01-01T10:00:00Z',
      updated_at: '2026-01-01T10:00:02Z',
      ...status,
    },
    ...more,
  });
}

/** An envelope that failed at `score`. */
export function failed(message: string, status: WireStatus = {}, more: Partial<Wire> = {}): Wire {
  const error = { type: 'ValueError', mro: ['Exception'], message, traceback: '' };
  return ended(
    { phase: 'failed', reason: 'PolicyExhausted', error, ...status },
    { route: { prev: ['fetch'], curr: 'score', next: ['store'] }, ...more },
  );
}
