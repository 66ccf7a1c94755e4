import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runWorker } from '../../lib/assembly/hosts/worker.ts';
import { PYTHON, plainEnvironment, ROOT, temporaryFolder, until } from '../sidecar/sidecar-process.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';

/** A whole mesh in this process: an actor with its runtime, the crew, and embedded engines. */
export interface RunningMesh {
  readonly engines: EmbeddedStores;
  readonly variables: Readonly<Record<string, string>>;
  /** Puts envelopes in the actor's queue. */
  send(ids: readonly string[], payload?: object): Promise<void>;
  /** Fixes the handler, which fails until then. */
  fixHandler(): void;
  /** The log lines of the crew and the sidecar with this message. */
  logged(message: string): readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

const CREW = ['x-sink', 'x-sump', 'x-dlq'];

export async function startMesh(): Promise<RunningMesh> {
  const engines = await startEmbeddedStores();
  const folder = await temporaryFolder();
  const fixFile = join(folder, 'fixed');
  for (const queue of ['score', 'x-sink', 'x-sump']) await engines.sqs.createQueue(queue);
  const lines: Record<string, unknown>[] = [];
  const stopping = new AbortController();
  const start = (name: string, more: Readonly<Record<string, string>>) =>
    runWorker({
      env: plainEnvironment({
        ...engines.variables,
        ASYA_ACTOR_NAME: name,
        ASYA_SQS_WAIT_TIME_SECONDS: '1',
        ASYA_METRICS_ADDR: '',
        ...more,
      }),
      write: (line) => lines.push(JSON.parse(line)),
      printError: (text) => lines.push({ message: 'configuration mistake', text }),
      stop: stopping.signal,
    });
  const ends = [
    ...CREW.map((name) => start(name, { ASYA_DEAD_LETTERS_OF: 'score,x-sink,x-sump' })),
    start('score', {
      ASYA_RUNTIME_URL: `unix:${folder}/score.sock`,
      ASYA_RUNTIME_COMMAND: `${PYTHON} ${ROOT}/runtimes/python/asya_runtime.py fragile.score`,
      PYTHONPATH: join(import.meta.dirname, 'handlers'),
      ASYA_RESILIENCY_POLICIES: '{"once":{"maxAttempts":1}}',
      ASYA_RESILIENCY_RULES:
        '[{"errors":["KeyError"],"policy":"noRetry"},{"errors":["ValueError"],"policy":"once"}]',
    }),
  ];
  const logged = (message: string) => lines.filter((line) => line['message'] === message);
  await until(() => logged('receiving deliveries').length === ends.length, 'the mesh works', 110_000);
  return {
    engines,
    variables: engines.variables,
    logged,
    fixHandler: () => writeFileSync(fixFile, ''),
    send: async (ids, payload = {}) => {
      for (const [n, id] of ids.entries()) {
        const envelope = {
          id,
          route: { prev: ['fetch'], curr: 'score', next: [] },
          headers: { 'x-asya-flow': 'scores' },
          payload: { n, fix_file: fixFile, ...payload },
        };
        await engines.sqs.send('score', JSON.stringify(envelope));
      }
    },
    close: async () => {
      stopping.abort();
      await Promise.all(ends);
      await engines.close();
    },
  };
}
