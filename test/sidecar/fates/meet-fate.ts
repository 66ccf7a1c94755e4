import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { SidecarBroker } from '../brokers/sidecar-broker.ts';
import { type Arrived, envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from '../envelopes.ts';
import { callsIn, type RunningProcess } from '../sidecar-process.ts';
import type { BrokerStage } from '../stage.ts';
import type { End, Fate } from './fate.ts';

/** A busy machine starts runtimes in seconds. */
export const PATIENCE_MS = 60_000;

export interface Scene {
  readonly broker: SidecarBroker;
  readonly stage: BrokerStage;
  readonly sidecars: ReadonlyMap<string, RunningProcess>;
}

/** Sends it, and expects all that is said of it. */
export async function meetFate(fate: Fate, { broker, stage, sidecars }: Scene): Promise<void> {
  const { withoutDelays } = fate;
  const isDifferent = broker.delays !== 'yes' && withoutDelays !== undefined;
  const { ends, calls } = isDifferent ? withoutDelays : fate;
  const noSoonerThanMs = isDifferent ? 0 : (fate.noSoonerThanMs ?? 0);
  const counter = `${stage.folder}/${randomUUID()}`;
  const payload = calls === undefined ? fate.payload : { ...(fate.payload as object), counter };
  const sent = envelopeAt(fate.at, payload, fate.more?.());
  const sentAt = Date.now();
  await broker.send(fate.at, fate.body?.(sent) ?? JSON.stringify(sent));

  const expected = ends(sent);
  const arrivals = await Promise.all(
    expected.map(({ queue }) =>
      stage.inbox.nextWhere(queue, belongsTo(sent), `${fate.name}: ${sent.id}`, PATIENCE_MS),
    ),
  );
  for (const end of expected) {
    const arrived = takeFor(end, expected, arrivals);
    expectLike(arrived, end, sent);
    if (fate.body === undefined) expectCarriedOver(arrived, sent);
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(noSoonerThanMs);
  }
  if (fate.settle !== undefined) {
    const line = await sidecars
      .get(fate.at)
      ?.untilLine(({ message, envelopeId }) => message === 'delivery' && envelopeId === sent.id, PATIENCE_MS);
    expect(line).toMatchObject({ settle: fate.settle });
  }
  if (calls !== undefined) expect(callsIn(counter), 'calls').toBe(calls);
}

/** Itself, its children, and what was made of it where it could not be read. */
function belongsTo({ id }: Wire): (arrived: Arrived) => boolean {
  return (arrived) => {
    const { raw = '', raw_base64 = '' } = Object(arrived.payload) as { raw?: string; raw_base64?: string };
    const came = `${raw}${Buffer.from(raw_base64, 'base64').toString('latin1')}`;
    return arrived.id === id || arrived.parent_id === id || came.includes(id);
  };
}

/** Those of one queue come in any order: the one with the payload, where there are several. */
function takeFor(end: End, expected: readonly End[], arrivals: readonly Arrived[]): Arrived {
  const here = arrivals.filter((_, index) => expected[index]?.queue === end.queue);
  const found =
    here.length === 1 ? here[0] : here.find(({ payload }) => isDeepStrictEqual(payload, end.like['payload']));
  if (found === undefined)
    throw new Error(`none in ${end.queue} has the payload ${JSON.stringify(end.like['payload'])}`);
  return found;
}

function expectLike(arrived: Arrived, { like, lacks = [], says, holds }: End, sent: Wire): void {
  expect(arrived).toMatchObject(like);
  // Whole, where it is named: toMatchObject is content with a part of an object.
  if ('payload' in like) expect(arrived.payload).toEqual(like['payload']);
  for (const name of lacks) expect(arrived.status).not.toHaveProperty(name);
  if (says !== undefined) expect(arrived.body).toContain(says);
  if (holds !== undefined && !holds(arrived, sent))
    throw new Error(`it does not hold of ${arrived.body.slice(0, 2_000)}`);
}

/** What no fate takes from an envelope. */
function expectCarriedOver({ headers, parent_id, status, id }: Arrived, sent: Wire): void {
  expect(headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
  expect(parent_id).toBe(id === sent.id ? sent.parent_id : sent.id);
  expect(status?.deadline_at).toBe(sent.status?.deadline_at);
}
