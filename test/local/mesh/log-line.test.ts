import { describe, expect, it } from 'vitest';
import { handlerProblems } from '../../../lib/local/mesh/handler-problems.ts';
import { type LogLine, readLogLine, repeatFilter } from '../../../lib/local/mesh/log-line.ts';

function read(fields: object): LogLine {
  const line = readLogLine(
    'score',
    JSON.stringify({ time: '2026-01-01T00:00:00Z', level: 'info', ...fields }),
  );
  if (line === undefined) throw new Error('the line is not shown');
  return line;
}

const delivery = (fields: object) =>
  read({ message: 'delivery', envelopeId: 'e-1', attempt: 1, settle: 'ack', ...fields });
const output = (text: string, more: object = {}) =>
  read({ message: 'runtime', stream: 'stderr', text, ...more });
const starting = (text: string) => output(text, { isStarting: true });
const ENDED = {
  message: 'the runtime ended',
  level: 'warn',
  reason: 'exited with status 1',
  restartInMs: 200,
};

describe('a delivery', () => {
  it.each([
    [{ outcome: 'success', to: 'store' }, 'done', 'succeeded → store'],
    [{ outcome: 'success', to: 'a,b', attempt: 3 }, 'done', 'succeeded, attempt 3 → a, b'],
    [{ outcome: 'empty_response', to: 'x-sink' }, 'done', 'returned nothing → x-sink'],
    [{ outcome: 'end_consumed', attempt: 3 }, 'done', 'end recorded'],
    [{ outcome: 'end_consumed', failureOf: 'score' }, 'done', 'failure recorded (score)'],
    [{ outcome: 'error,policy_routed', to: 'review' }, 'done', 'routed → review'],
    [
      { outcome: 'error,retried', to: 'score', retryInMs: 250 },
      undefined,
      'retried, attempt 1, next in 250 ms',
    ],
    [{ outcome: 'deferred', to: 'score' }, undefined, 'not due yet → score'],
    [{ outcome: 'returned', to: 'score' }, undefined, 'resent unchanged → score'],
    [{ outcome: 'canceled' }, undefined, 'canceled'],
    [{ outcome: 'error,dropped', to: 'x-sink' }, 'failed', 'dropped → x-sink'],
    [{ outcome: 'error,escalated', to: 'errors,x-sink' }, 'failed', 'escalated → errors, x-sink'],
    [{ outcome: 'sla_expired', failed: 'sla_timeout', to: 'x-sink' }, 'failed', 'SLA expired → x-sink'],
    [{ failed: 'runtime_error', to: 'x-sink' }, 'failed', 'failed → x-sink'],
    [
      { failed: 'transport_error', settle: 'release' },
      undefined,
      'a send was refused · not acknowledged: it will be redelivered',
    ],
    [
      { outcome: 'error', settle: 'release', problem: 'E: no' },
      undefined,
      'call failed · not acknowledged: it will be redelivered · E: no',
    ],
  ])('%j ends as %s: %s', (fields, end, text) => {
    const line = delivery(fields);
    expect(line).toMatchObject({ kind: 'delivery', text });
    expect(line.kind === 'delivery' && line.end).toBe(end);
  });
});

describe('output', () => {
  it('keeps its indentation, its length and the id of its call', () => {
    const text = `\t  ${'x'.repeat(20_000)}  `;
    expect(output(text, { envelopeId: 'e-1' })).toMatchObject({ kind: 'output', envelopeId: 'e-1', text });
  });

  it('is shown again when it is repeated, except while a handler is starting', () => {
    const isNew = repeatFilter();
    const lines = [output('begin 1'), output('begin 2'), output(''), output('')];
    expect(lines.map(isNew)).toEqual([true, true, true, true]);
    expect([starting('no 1'), starting('no 2')].map(isNew)).toEqual([true, false]);
  });
});

it('the line of a failure is for the log only, because its deliveries are shown', () => {
  expect(read({ message: 'failure', level: 'error', envelopeId: 'e-1' })).toMatchObject({ level: 'info' });
});

it('a failed start is shown once, although the pause before the next one grows', () => {
  const isNew = repeatFilter();
  const lines = [200, 1_600, 60_000].map((restartInMs) => read({ ...ENDED, isStarting: true, restartInMs }));
  expect(lines.map(isNew)).toEqual([true, false, false]);
  expect(lines[1]).toMatchObject({
    level: 'warn',
    text: "the handler's process exited with status 1 while it was starting; it starts again in 1.6 s",
  });
});

describe('the problem of a handler', () => {
  const SYNTAX = 'cannot host "./a.ts.a": /m/a.ts:1: SyntaxError: no';

  it('is what the runtime printed, not the stack trace after it, until the runtime is ready', () => {
    const problemIn = handlerProblems();
    expect(problemIn(starting(`asya-runtime: ${SYNTAX}`))).toBeUndefined();
    expect(problemIn(starting('    at a.ts:1:1'))).toBeUndefined();
    expect(problemIn(read({ ...ENDED, isStarting: true }))).toEqual({ actor: 'score', problem: SYNTAX });
    expect(problemIn(read({ message: 'the runtime started' }))).toEqual({
      actor: 'score',
      problem: undefined,
    });
    expect(problemIn(read({ message: 'the runtime started' }))).toBeUndefined();
  });

  it('is the exit, and then output that arrives after it', () => {
    const problemIn = handlerProblems();
    expect(problemIn(read({ ...ENDED, isStarting: true }))?.problem).toContain('exited with status 1 while');
    expect(problemIn(starting('bad interpreter'))).toEqual({ actor: 'score', problem: 'bad interpreter' });
    expect(problemIn(starting(`asya-runtime: ${SYNTAX}`))?.problem).toBe(SYNTAX);
  });

  it('ends when an envelope succeeds, but not when one fails', () => {
    const problemIn = handlerProblems();
    problemIn(read({ ...ENDED, isStarting: true }));
    expect(problemIn(delivery({ failed: 'policy_exhausted' }))).toBeUndefined();
    expect(problemIn(delivery({ outcome: 'success' }))).toEqual({ actor: 'score', problem: undefined });
  });

  it('is not a process that ends while it is called', () => {
    expect(handlerProblems()(read(ENDED))).toBeUndefined();
  });
});
