import type { Fact } from '../../core/delivery/plan.ts';
import { jsonLine } from '../../core/text/json-line.ts';
import type { DeliveryReport, Details, Telemetry } from '../../ports/telemetry.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface JsonLogOptions {
  readonly level: LogLevel;
  readonly actor: string;
  readonly now: () => number;
  readonly write: (line: string) => void;
}

/** Writes one JSON line per event. Never writes a payload. */
export interface JsonLog extends Telemetry {
  line(level: LogLevel, message: string, details?: Details): void;
  /** A line that the handler's process printed. Never shortened. */
  output(line: OutputLine): void;
}

interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
  readonly envelopeId?: string;
  readonly isStarting?: true;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const MAX_TEXT = 2_000;

export function jsonLog({ level: minLevel, actor, now, write }: JsonLogOptions): JsonLog {
  function print(level: LogLevel, message: string, details: object, replacer?: typeof shortened): void {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minLevel)) return;
    const time = new Date(now()).toISOString();
    write(jsonLine({ time, level, message, actor, ...details }, replacer));
  }

  function line(level: LogLevel, message: string, details: Details = {}): void {
    print(level, message, details, shortened);
  }

  return {
    line,
    output: (printed) => print('info', 'runtime', printed),
    received: (count, waitedMs) => {
      if (count > 0) line('debug', 'received', { count, waitedMs });
    },
    began: () => {},
    ended: (report) => line(levelOf(report), 'delivery', detailsOf(report)),
    warn: (what, details) => line('warn', what, details),
    progress: ({ envelopeId, percent, message: text }) =>
      line('info', 'progress', { envelopeId, percent, text }),
    step: (what, details) => line('debug', what, details),
  };
}

function shortened(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}...` : value;
}

function levelOf({ facts, settle }: DeliveryReport): LogLevel {
  if (settle === 'release' || facts.some(({ fact }) => fact === 'failed')) return 'error';
  return facts.some(({ fact }) => fact === 'runtime-error') ? 'warn' : 'info';
}

function numberIn(facts: readonly Fact[], read: (fact: Fact) => number | undefined): number | undefined {
  return facts.map(read).find((value) => value !== undefined);
}

function detailsOf(report: DeliveryReport): Details {
  const { envelopeId, attempt, settle, facts, problem, receivedBytes, processingMs, runtimeMs, sendMs } =
    report;
  const joined = (read: (fact: Fact) => string | undefined) => {
    const found = facts.map(read).filter((text) => text !== undefined);
    return found.length === 0 ? undefined : found.join(',');
  };
  return {
    envelopeId,
    attempt,
    settle,
    outcome: joined((fact) => (fact.fact === 'result' ? fact.result : undefined)),
    failed: joined((fact) => (fact.fact === 'failed' ? fact.reason : undefined)),
    policy: joined((fact) => (fact.fact === 'policy' ? fact.policy : undefined)),
    rule: joined((fact) =>
      fact.fact === 'policy' && fact.rule !== undefined ? String(fact.rule) : undefined,
    ),
    maxAttempts: numberIn(facts, (fact) => (fact.fact === 'policy' ? fact.maxAttempts : undefined)),
    retryInMs: numberIn(facts, (fact) => (fact.fact === 'result' ? fact.delayMs : undefined)),
    to: joined((fact) => (fact.fact === 'sent' ? fact.to : undefined)),
    failureOf: joined((fact) => (fact.fact === 'failure' ? fact.actor : undefined)),
    problem,
    receivedBytes,
    processingMs,
    runtimeMs,
    sendMs,
  };
}
