import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonLog } from '../../lib/adapters/log/json-log.ts';
import { endReasonText } from '../../lib/cli/output/failure-reason.ts';
import { lineText } from '../../lib/cli/output/log-text.ts';
import { whyText } from '../../lib/cli/output/timeline-messages.ts';
import { FAILED_TEXTS, RESULT_TEXTS } from '../../lib/core/delivery/event-text.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import { FAILED_REASONS, RESULTS } from '../../lib/core/delivery/plan.ts';
import { decode } from '../../lib/core/envelope/decode.ts';
import { readLogLine } from '../../lib/local/mesh/log-line.ts';
import type { DeliveryReport } from '../../lib/ports/telemetry.ts';
import { type HandlingEnd, handling } from '../app/a-handling.ts';
import { failing, type Staging, simulated } from '../app/a-scenario.ts';
import {
  anEnvelope,
  at,
  deriveId,
  faultEnd,
  ORIGIN,
  TIMEOUT,
  UNREACHABLE,
  valueEnd,
} from '../core/a-delivery.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';

/** The log, the failure index and the simulation use the same words for the same event. */

interface Case {
  readonly words: string;
  readonly end: CallResult;
  readonly policies?: unknown;
  readonly rules?: unknown;
  /** At which attempt the event happens. Default: the first. */
  readonly attempt?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The deadline, in milliseconds from now. */
  readonly timeoutMs?: number;
  /** The reason of a failed envelope, as the failure index contains it. */
  readonly reason?: string;
  readonly also?: readonly string[];
}

const BY_DEFAULT = (policy: object) => ({ default: { maxAttempts: 3, ...policy } });
const THREE = BY_DEFAULT({ backoff: 'constant', initialDelay: '2s' });
const RETRY = { words: RESULT_TEXTS.retried, also: ['next in 2 s', 'no rule matches, policy "default"'] };

const CASES: readonly Case[] = [
  { words: RESULT_TEXTS.success, end: valueEnd(1) },
  { ...RETRY, end: faultEnd(), policies: THREE },
  { ...RETRY, end: UNREACHABLE, policies: THREE },
  {
    words: RESULT_TEXTS.retried,
    end: UNREACHABLE,
    also: ['next in 1 s', 'no rule matches, built-in policy "connection"'],
  },
  {
    words: RESULT_TEXTS.retried,
    end: faultEnd({ type: 'Slow', mro: [] }),
    policies: { slow: { maxAttempts: 2, initialDelay: '90s' } },
    rules: [
      { errors: ['KeyError'], policy: 'slow' },
      { errors: ['Slow'], policy: 'slow' },
    ],
    also: ['next in 1 min 30 s', 'policy "slow"', 'rule 2'],
  },
  {
    words: FAILED_TEXTS.policy_exhausted,
    end: faultEnd(),
    policies: THREE,
    attempt: 3,
    reason: 'PolicyExhausted',
  },
  { words: FAILED_TEXTS.policy_exhausted, end: UNREACHABLE, attempt: 5, reason: 'RuntimeError' },
  { words: FAILED_TEXTS.runtime_error, end: faultEnd(), reason: 'RuntimeError' },
  { words: FAILED_TEXTS.timeout, end: TIMEOUT, policies: THREE, reason: 'ActorTimeout' },
  {
    words: RESULT_TEXTS.policy_routed,
    end: faultEnd(),
    policies: BY_DEFAULT({ maxAttempts: 1, onExhausted: ['review'] }),
  },
  { words: RESULT_TEXTS.policy_routed, end: faultEnd(), headers: { _on_error: 'recover' } },
  {
    words: RESULT_TEXTS.escalated,
    end: faultEnd(),
    policies: BY_DEFAULT({ maxAttempts: 1, onExhausted: { action: 'escalate', topic: 'errors' } }),
    reason: 'Escalated',
  },
  {
    words: RESULT_TEXTS.dropped,
    end: faultEnd(),
    policies: BY_DEFAULT({ maxAttempts: 1, onExhausted: { action: 'drop' } }),
    reason: 'Dropped',
  },
  { words: RESULT_TEXTS.sla_expired, end: faultEnd(), timeoutMs: 500, reason: 'Timeout' },
  { words: RESULT_TEXTS.sla_expired, end: faultEnd(), policies: THREE, timeoutMs: 2_500, reason: 'Timeout' },
  { words: RESULT_TEXTS.sla_expired, end: TIMEOUT, timeoutMs: 2_000, reason: 'Timeout' },
];

/** The line of the log about a delivery, from the report to what is printed. */
function logText(report: DeliveryReport): string {
  const lines: string[] = [];
  jsonLog({ level: 'info', actor: 'score', now: () => 0, write: (line) => lines.push(line) }).ended(report);
  const line = readLogLine('score', lines[0] ?? '');
  return (line === undefined ? undefined : lineText(line)) ?? '';
}

async function logged({ attempt = 1, headers = {}, timeoutMs, ...given }: Case): Promise<HandlingEnd> {
  const status = {
    ...(attempt > 1 && { phase: 'retrying', actor: 'score', attempt: attempt - 1 }),
    ...(timeoutMs !== undefined && { deadline_at: at(timeoutMs) }),
  };
  return handling({ ...given, body: anEnvelope({ headers, status }) });
}

async function simulatedText({ end, attempt = 1, ...given }: Case): Promise<string> {
  const staging: Staging = {
    ...given,
    next: ['store'],
    ...(end.kind === 'frames' ? {} : { fail: { score: [failing(end)] } }),
  };
  const { steps } = await simulated(staging);
  const step = steps.filter(({ actor }) => actor === 'score')[attempt - 1];
  return step === undefined ? '' : whyText(step);
}

describe.each(CASES)('$words ($end.kind, attempt $attempt)', (given) => {
  const { words, also = [], reason, attempt = 1 } = given;

  it('is in the line of the log, with the same details as in the simulation', async () => {
    const line = logText((await logged(given)).report);
    const why = await simulatedText(given);
    for (const text of [words, ...also]) {
      expect(line).toContain(text);
      expect(why).toContain(text);
    }
  });

  it('is in the failure, with its reason and the same error as in the log', async () => {
    const { sends, report } = await logged(given);
    const ended = sends.find(({ to }) => to === 'x-sink')?.envelope;
    if (reason === undefined) return expect(ended).toBeUndefined();
    const arrival = decode(JSON.stringify(ended), { ...ORIGIN, deriveId });
    expect(endReasonText(reason, attempt, arrival.envelope)).toBe(`${words} (${reason})`);
    const { type, message } = ended?.status?.error ?? {};
    expect(report.problem).toBe(`${type}: ${message}`);
    expect(logText(report)).toContain(`${type}: ${message}`);
  });
});

it('a retry says which attempt it was, of how many, and when the next one is', async () => {
  const [, retry] = CASES;
  const line = logText((await logged(retry as Case)).report);
  expect(line).toMatch(
    / retried, attempt 1 of 3, next in 2 s · no rule matches, policy "default" · .*ValueError: /,
  );
});

it('each event has words of its own, except for the two metrics of an expired SLA', () => {
  const texts = [
    ...RESULTS.map((result) => RESULT_TEXTS[result]),
    ...FAILED_REASONS.map((one) => FAILED_TEXTS[one]),
  ];
  expect(texts.length - new Set(texts).size).toBe(1);
});

it('docs/local.md shows lines as they are printed', () => {
  const page = readFileSync(join(ROOT, 'docs', 'local.md'), 'utf8');
  const envelopeId = '02b31b0c-879a-4abb-8d97-37276406d10a';
  const time = '2026-01-01T20:42:54.000Z';
  const lines = [
    { message: 'runtime', text: 'loading model' },
    { message: 'runtime', text: '  from cache' },
    {
      message: 'delivery',
      attempt: 1,
      settle: 'ack',
      outcome: 'error,retried',
      policy: 'default',
      maxAttempts: 3,
      retryInMs: 2_000,
      to: 'score',
      problem: "RuntimeConnectionError: the handler's process exited with status 3 during the call",
      processingMs: 18,
    },
  ].map((fields) => readLogLine('score', JSON.stringify({ time, level: 'info', envelopeId, ...fields })));
  const printed = lines.map((line) => (line === undefined ? '' : lineText(line)));
  expect(page).toContain(`\`\`\`\n${printed.join('\n')}\n\`\`\``);
});
