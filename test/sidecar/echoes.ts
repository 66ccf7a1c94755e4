import { freePort } from './free-port.ts';
import { startSidecar, until, type Variables } from './sidecar-process.ts';

/** A route of three actors that return their payload, for ten thousand envelopes. */
export const COUNT = 10_000;
export const ACTORS = ['first', 'second', 'third'] as const;
/** A busy machine takes minutes. */
export const TIMEOUT_MS = 240_000;

interface EchoStage {
  variables(actor: string, more: Variables): Variables;
}

/** Resolves with the ports of their metrics when all are ready. */
export async function startEchoes(stage: EchoStage): Promise<readonly number[]> {
  const ports = await Promise.all(ACTORS.map(freePort));
  for (const [index, actor] of ACTORS.entries()) {
    startSidecar(
      stage.variables(actor, {
        ASYA_RUNTIME_COMMAND: `${process.execPath} ${import.meta.dirname}/echo-runtime.ts`,
        ASYA_CONCURRENCY: '10',
        ASYA_METRICS_ADDR: `127.0.0.1:${ports[index]}`,
        // Otherwise there would be thirty thousand log lines, one per delivery.
        ASYA_LOG_LEVEL: 'warn',
      }),
    );
  }
  const isReady = (port: number) =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => (await Promise.all(ports.map(isReady))).every(Boolean), 'all are ready', 90_000);
  return ports;
}
