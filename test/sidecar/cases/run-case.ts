import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { SidecarBroker } from '../brokers/sidecar-broker.ts';
import { type Arrived, envelopeAt, TRACEPARENT, TRACESTATE, type Wire } from '../envelopes.ts';
import { callsIn, type RunningProcess } from '../sidecar-process.ts';
import type { BrokerStage } from '../stage.ts';
import type { DeliveryCase, End } from './delivery-case.ts';

/** On a busy machine a runtime takes seconds to start. */
export const WAIT_MS = 60_000;

export interface CaseContext {
  readonly broker: SidecarBroker;
  readonly stage: BrokerStage;
  readonly sidecars: ReadonlyMap<string, RunningProcess>;
}

/** Sends the envelope of a case and checks everything that the case expects. */
export async function runCase(one: DeliveryCase, { broker, stage, sidecars }: CaseContext): Promise<void> {
  const { withoutDelays } = one;
  const isDifferent = broker.delays !== 'yes' && withoutDelays !== undefined;
  const { ends, calls } = isDifferent ? withoutDelays : one;
  const minMs = isDifferent ? 0 : (one.minMs ?? 0);
  const counter = `${stage.folder}/${randomUUID()}`;
  const payload = calls === undefined ? one.payload : { ...(one.payload as object), counter };
  const sent = envelopeAt(one.at, payload, one.more?.());
  const sentAt = Date.now();
  await broker.send(one.at, one.body?.(sent) ?? JSON.stringify(sent));

  const expected = ends(sent);
  const arrivals = await Promise.all(
    expected.map(({ queue }) =>
      stage.inbox.nextWhere(queue, belongsTo(sent), `${one.name}: ${sent.id}`, WAIT_MS),
    ),
  );
  for (const end of expected) {
    const arrived = takeFor(end, expected, arrivals);
    expectLike(arrived, end, sent);
    if (one.body === undefined) expectCarriedOver(arrived, sent);
    expect(arrived.arrivedAt - sentAt).toBeGreaterThanOrEqual(minMs);
  }
  if (one.settle !== undefined) {
    const line = await sidecars
      .get(one.at)
      ?.untilLine(({ message, envelopeId }) => message === 'delivery' && envelopeId === sent.id, WAIT_MS);
    expect(line).toMatchObject({ settle: one.settle });
  }
  if (calls !== undefined) expect(callsIn(counter), 'calls').toBe(calls);
}

/** Matches the envelope itself, its children, and the failed envelope created from an unreadable body. */
function belongsTo({ id }: Wire): (arrived: Arrived) => boolean {
  return (arrived) => {
    const { raw = '', raw_base64 = '' } = Object(arrived.payload) as { raw?: string; raw_base64?: string };
    const original = `${raw}${Buffer.from(raw_base64, 'base64').toString('latin1')}`;
    return arrived.id === id || arrived.parent_id === id || original.includes(id);
  };
}

/** Arrivals in one queue have no fixed order. If there are several, returns the one with the expected payload. */
function takeFor(end: End, expected: readonly End[], arrivals: readonly Arrived[]): Arrived {
  const here = arrivals.filter((_, index) => expected[index]?.queue === end.queue);
  const found =
    here.length === 1 ? here[0] : here.find(({ payload }) => isDeepStrictEqual(payload, end.like['payload']));
  if (found === undefined)
    throw new Error(`no envelope in ${end.queue} has the payload ${JSON.stringify(end.like['payload'])}`);
  return found;
}

function expectLike(arrived: Arrived, { like, lacks = [], bodyContains, matches }: End, sent: Wire): void {
  expect(arrived).toMatchObject(like);
  // The whole payload, because toMatchObject accepts additional keys.
  if ('payload' in like) expect(arrived.payload).toEqual(like['payload']);
  for (const name of lacks) expect(arrived.status).not.toHaveProperty(name);
  if (bodyContains !== undefined) expect(arrived.body).toContain(bodyContains);
  if (matches !== undefined && !matches(arrived, sent))
    throw new Error(`unexpected envelope: ${arrived.body.slice(0, 2_000)}`);
}

/** Checks what every case keeps: trace headers, parent id and deadline. */
function expectCarriedOver({ headers, parent_id, status, id }: Arrived, sent: Wire): void {
  expect(headers).toMatchObject({ traceparent: TRACEPARENT, tracestate: TRACESTATE });
  expect(parent_id).toBe(id === sent.id ? sent.parent_id : sent.id);
  expect(status?.deadline_at).toBe(sent.status?.deadline_at);
}
