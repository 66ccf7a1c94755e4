import type { Clock } from '../../ports/clock.ts';
import type { SecretReading, SecretSource } from '../../ports/secret-source.ts';
import type { Details } from '../../ports/telemetry.ts';

/** The values of an actor's secrets, by variable. */
type Values = Readonly<Record<string, string>>;

export interface SecretValues {
  /** Resolves when every secret was read for the first time. Never resolves if `close` is called before. */
  current(): Promise<Values>;
  /** Which secrets could not be read yet, and why. Undefined once all were read. */
  problem(): string | undefined;
  /** Whether the values are so old that they should be read again. */
  isDue(): boolean;
  /**
   * Reads the values again. Resolves with true if one has changed. If one cannot be read, all values stay as they are, and
   * are soon due again.
   */
  refresh(): Promise<boolean>;
  close(): void;
}

export interface SecretValuesOptions {
  readonly sources: readonly SecretSource[];
  readonly clock: Clock;
  /** How old the values may be. */
  readonly refreshMs: number;
  readonly onWarning: (message: string, details: Details) => void;
}

const FIRST_PAUSE_MS = 500;
/** Short enough for Lambda, where time passes only during invocations. */
const MAX_PAUSE_MS = 10_000;
/** When the values are due again if they could not be read. */
const RETRY_REFRESH_MS = 30_000;

/** Starts to read at once. While a secret cannot be read for the first time, tries again until it can. */
export function secretValues({ sources, clock, refreshMs, onWarning }: SecretValuesOptions): SecretValues {
  const closing = new AbortController();
  let values: Values | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let missing = new Map<string, string>(sources.map(({ variable }) => [variable, 'it is being read']));

  const first = readFirst();

  async function readFirst(): Promise<Values> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const readings = await readAll(sources);
      if (closing.signal.aborted) return untilNever();
      const found = valuesIn(readings);
      if (found !== undefined) {
        missing = new Map();
        return keep(found);
      }
      missing = problemsIn(readings);
      warn('cannot read a secret; the actor waits for it', readings, pauseMs);
      await clock.sleep(pauseMs, closing.signal);
      if (closing.signal.aborted) return untilNever();
    }
  }

  function keep(found: Values): Values {
    values = found;
    dueAt = clock.now() + refreshMs;
    return found;
  }

  function warn(message: string, readings: readonly Read[], retryInMs: number): void {
    for (const { source, reading } of readings) {
      if (reading.ok) continue;
      const { variable, description } = source;
      onWarning(message, { variable, secret: description, problem: reading.problem, retryInMs });
    }
  }

  async function refresh(): Promise<boolean> {
    const before = values;
    if (before === undefined) return false;
    const readings = await readAll(sources);
    const found = valuesIn(readings);
    if (found === undefined) {
      const retryInMs = Math.min(refreshMs, RETRY_REFRESH_MS);
      dueAt = clock.now() + retryInMs;
      warn('cannot read a secret again; its last value stays in use', readings, retryInMs);
      return false;
    }
    keep(found);
    return sources.some(({ variable }) => before[variable] !== found[variable]);
  }

  return {
    current: async () => values ?? first,
    problem: () => {
      if (missing.size === 0) return undefined;
      return `waiting for secrets: ${[...missing].map(([variable, why]) => `${variable} (${why})`).join(', ')}`;
    },
    isDue: () => clock.now() >= dueAt,
    refresh,
    close: () => closing.abort(),
  };
}

interface Read {
  readonly source: SecretSource;
  readonly reading: SecretReading;
}

async function readAll(sources: readonly SecretSource[]): Promise<readonly Read[]> {
  return Promise.all(sources.map(async (source) => ({ source, reading: await source.read() })));
}

/** Undefined if one could not be read. */
function valuesIn(readings: readonly Read[]): Values | undefined {
  const entries = readings.flatMap(({ source, reading }) =>
    reading.ok ? [[source.variable, reading.value] as const] : [],
  );
  return entries.length === readings.length ? Object.fromEntries(entries) : undefined;
}

function problemsIn(readings: readonly Read[]): Map<string, string> {
  return new Map(
    readings.flatMap(({ source, reading }) => (reading.ok ? [] : [[source.variable, reading.problem]])),
  );
}

function untilNever(): Promise<never> {
  return new Promise(() => {});
}
