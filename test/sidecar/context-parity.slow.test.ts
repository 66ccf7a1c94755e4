import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHandler } from '../../lib/testing/index.ts';
import { pushOf, setCloudRunStage } from '../functions/cloud-run/a-cloud-run-stage.ts';
import { recordOf, startLambda } from '../functions/sidecar/lambda-process.ts';
import { run } from '../runtimes/handlers/context-handlers.ts';
import { PUBSUB_ABSENCE } from '../support/pubsub.ts';
import { envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from './envelopes.ts';
import { PYTHON, ROOT, type Variables } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** A handler gets the same context in both languages, on every host and from the libraries for tests. */

if (PUBSUB_ABSENCE !== undefined) console.log(`skipped for Cloud Run: ${PUBSUB_ABSENCE}`);

let stage: Stage;
// One for each test: a poll that a sidecar left open could receive the message of the next one.
beforeEach(async () => {
  stage = await setStage('x-sink');
});
afterEach(() => stage.close());

const HANDLERS = join(ROOT, 'test/runtimes/handlers');
const COMMANDS = {
  node: `${process.execPath} ${ROOT}/runtimes/node/asya-runtime.ts ${HANDLERS}/context-handlers.ts.run`,
  python: `${PYTHON} ${ROOT}/runtimes/python/asya_runtime.py context_handlers.run`,
};
type Name = keyof typeof COMMANDS;
const NAMES = Object.keys(COMMANDS) as Name[];

const DEADLINE = '2099-01-01T00:00:00Z';
const CAUSE = { type: 'pkg.Bad', mro: ['pkg.Bad', 'Exception'], message: 'was bad', traceback: 'line 1' };
const FACTS = { do: 'facts' } as const;

/** A child of a fan-out, at its third actor, which is its second attempt, after another actor had failed. */
const ENVELOPE: Wire = envelopeAt('score', FACTS, {
  parent_id: 'p-1',
  route: { prev: ['fetch', 'split'], curr: 'score', next: [] },
  headers: { word: 'one', list: [1, { a: null }] },
  status: {
    // The next call is the second attempt.
    phase: 'retrying',
    actor: 'score',
    attempt: 1,
    max_attempts: 3,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    deadline_at: DEADLINE,
    ...{ cause: CAUSE },
  },
});
const HEADERS = { traceparent: TRACEPARENT, tracestate: TRACESTATE, word: 'one', list: [1, { a: null }] };
const EXPECTED = {
  id: ENVELOPE.id,
  parent: 'p-1',
  actor: 'score',
  hop: 2,
  attempt: 2,
  max: 3,
  deadline: DEADLINE,
  route: ENVELOPE.route,
  headers: HEADERS,
  traceparent: TRACEPARENT,
  tracestate: TRACESTATE,
  error: CAUSE,
  key: `${ENVELOPE.id}:score:2`,
  hasTimeLeft: true,
  cancelled: false,
};

const variables = (host: string, name: Name): Variables => ({
  ASYA_RUNTIME_COMMAND: COMMANDS[name],
  ASYA_RUNTIME_URL: `asya:${stage.folder}/${host}-${name}.sock`,
  ASYA_RESILIENCY_ACTOR_TIMEOUT: '30s',
  PYTHONPATH: HANDLERS,
});

describe.each(NAMES)('the context of a handler in %s', { timeout: 180_000 }, (name) => {
  test('from a worker', async () => {
    await stage.sidecar('score', variables('worker', name));
    await stage.send(ENVELOPE);
    expect((await stage.inbox.next('x-sink', ENVELOPE.id)).payload).toEqual(EXPECTED);
  });

  test('on Lambda', async () => {
    const lambda = startLambda(stage.variables('score', variables('lambda', name)));
    expect(await lambda.invoke([recordOf('score', ENVELOPE)])).toEqual({ batchItemFailures: [] });
    expect((await stage.inbox.next('x-sink', ENVELOPE.id)).payload).toEqual(EXPECTED);
  });
});

test.skipIf(PUBSUB_ABSENCE !== undefined)('the context on Cloud Run', { timeout: 180_000 }, async () => {
  const cloudRun = await setCloudRunStage('x-sink');
  for (const name of NAMES) {
    const { url, process } = await cloudRun.host('score', variables('cloud-run', name));
    const headers = { 'content-type': 'application/json' };
    await fetch(url, { method: 'POST', headers, body: pushOf(ENVELOPE, name) });
    expect((await cloudRun.receive('x-sink', ENVELOPE.id)).payload).toEqual(EXPECTED);
    process.signal('SIGTERM');
    await process.untilExit();
  }
  await cloudRun.close();
});

test('the context from runHandler', async () => {
  const handler = (payload: typeof FACTS, context: object) => run(payload, context as never);
  const { items } = await runHandler(handler, FACTS, {
    envelopeId: ENVELOPE.id,
    parentId: 'p-1',
    actor: 'score',
    attempt: 2,
    maxAttempts: 3,
    deadline: new Date(DEADLINE),
    timeoutMs: 30_000,
    route: { prev: ['fetch', 'split'], next: [] },
    headers: HEADERS,
    error: CAUSE,
  });
  expect(items).toEqual([EXPECTED]);
});

test('the context from asya.testing', () => {
  const program = `
import json, sys
from datetime import datetime
from asya import RoutedError
from asya.testing import run
import context_handlers
given = json.loads(sys.argv[1])
given["deadline"] = datetime.fromisoformat(given["deadline"].replace("Z", "+00:00"))
given["error"] = RoutedError(**given["error"])
print(json.dumps(run(context_handlers.run, {"do": "facts"}, **given).items))
`;
  const given = {
    envelope_id: ENVELOPE.id,
    parent_id: 'p-1',
    actor: 'score',
    attempt: 2,
    max_attempts: 3,
    deadline: DEADLINE,
    timeout: 30,
    prev: ['fetch', 'split'],
    next: [],
    headers: HEADERS,
    traceparent: TRACEPARENT,
    tracestate: TRACESTATE,
    error: CAUSE,
  };
  const PYTHONPATH = `${ROOT}/runtimes/python:${HANDLERS}`;
  const printed = execFileSync(PYTHON, ['-c', program, JSON.stringify(given)], {
    encoding: 'utf8',
    env: { PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' },
  });
  expect(JSON.parse(printed)).toEqual([EXPECTED]);
});
