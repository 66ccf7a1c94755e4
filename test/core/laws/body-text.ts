import type { Actor } from '../../../lib/core/delivery/actor.ts';
import type { DeliveryParams } from './arbitraries.ts';
import { DEEP } from './json-arbitraries.ts';
import { instantText, type Written, wireAttempt } from './written.ts';

/** Builds objects as text, so that they can contain keys like `__proto__` and numbers of any size. */
type Members = Map<string, string>;

function objectText(members: Members, gap: string): string {
  const texts = [...members].map(([key, text]) => `${JSON.stringify(key)}:${gap}${text}`);
  return `{${gap}${texts.join(`${gap},`)}}`;
}

/** The defined fields as JSON. With `nulls`, the undefined ones too, as `null`. */
function present(fields: Readonly<Record<string, unknown>>, nulls = false): [string, string][] {
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined && !nulls ? [] : [[key, JSON.stringify(value ?? null)]],
  );
}

/** An empty list, written as `null` if `nulls` is set. */
function listOrNull(names: readonly string[], nulls: boolean): readonly string[] | null {
  return nulls && names.length === 0 ? null : names;
}

export function bodyText(given: DeliveryParams, actor: Actor, written: Written): string {
  const { flaw, gap } = given;
  if (flaw === 'not-object') return `[${given.payload}]`;
  const status = flaw === 'status-array' ? '[]' : statusText(given, actor, written);
  const members: Members = new Map([
    ...given.extra,
    ...present({ id: written.id }),
    ...present({ parent_id: written.parentId }, given.nulls),
    ['route', routeText(given, written)],
    ['headers', headersText(given, written)],
    ['payload', given.payload],
    ...(status === undefined && !given.nulls ? [] : [['status', status ?? 'null'] as const]),
  ]);
  if (flaw === 'no-id') members.delete('id');
  if (flaw === 'empty-id') members.set('id', '""');
  if (flaw === 'no-payload') members.delete('payload');
  if (flaw === 'no-route') members.delete('route');
  if (flaw === 'headers-array') members.set('headers', '[]');
  const entries = [...members];
  const rotated = new Map([...entries.slice(given.rotation), ...entries.slice(0, given.rotation)]);
  const text = `${gap}${objectText(rotated, gap)}${gap}`;
  if (flaw === 'cut-short') return text.slice(0, -1);
  // Of two members with the same key the last one counts, so these have no effect.
  return given.decoys ? text.replace('{', '{"payload":0,"id":5,"route":null,"headers":[],') : text;
}

function routeText(
  { shape, flaw, routeExtra, gap, nulls }: DeliveryParams,
  { prev, curr, next }: Written,
): string {
  if (flaw === 'bad-name') return '{"prev":[],"curr":"Bad Name","next":[]}';
  if (flaw === 'crew-name') return '{"prev":[],"curr":"score","next":["x-sink"]}';
  if (flaw === 'bad-current') return '{"actors":["a"],"current":2}';
  const actors = [...prev, ...(curr === '' ? [] : [curr]), ...next];
  const older = { actors, current: prev.length };
  const newer = { prev: listOrNull(prev, nulls), curr, next: listOrNull(next, nulls) };
  const fields = shape === 'new' ? newer : shape === 'old' ? older : { ...older, current: -1, ...newer };
  return objectText(new Map([...routeExtra, ...present(fields)]), gap);
}

function headersText(given: DeliveryParams, written: Written): string {
  const { event, eventJunk, notBefore, flaw, deadline, deadlineIn, hasStatus } = given;
  const { eventMs, notBeforeMs, deadlineMs } = written;
  const isDeadlineHere = deadlineIn === 'header' || !hasStatus;
  // If both are present the status wins, so the header may contain anything.
  const shownDeadlineMs = isDeadlineHere || deadlineMs === undefined ? deadlineMs : deadlineMs + 77_777;
  const here = isDeadlineHere || deadlineIn === 'both';
  const junk = event === undefined ? eventJunk : undefined;
  const members: Members = new Map([
    ...written.headers,
    ...present({
      event_time: eventMs === undefined ? undefined : instantText(eventMs, event?.form ?? 'utc'),
      _on_error: flaw === 'bad-on-error' ? 'Bad Name' : flaw === 'crew-on-error' ? 'x-sump' : written.onError,
      'x-asya-not-before':
        flaw === 'bad-not-before'
          ? 'soon'
          : notBeforeMs && instantText(notBeforeMs, notBefore?.form ?? 'utc'),
      deadline_at: here
        ? shownDeadlineMs && instantText(shownDeadlineMs, deadline?.form ?? 'utc')
        : undefined,
    }),
    ...(junk === undefined ? [] : [['event_time', junk] as const]),
  ]);
  return objectText(members, given.gap);
}

function statusText(given: DeliveryParams, actor: Actor, written: Written): string | undefined {
  const { flaw, statusActor, deadline, deadlineIn, created, mainPolicy, now, elapsedMs } = given;
  const isNeeded =
    flaw === 'bad-attempt' || flaw === 'bad-created' || flaw === 'deep-status' || flaw === 'bad-deadline';
  if (!given.hasStatus && !isNeeded) return undefined;
  const wireCreatedMs = created && now + elapsedMs - (mainPolicy.maxDurationMs ?? 60_000) + created.offsetMs;
  const isDeadlineHere = given.hasStatus && deadlineIn !== 'header';
  const deadlineMs = isDeadlineHere ? written.deadlineMs : undefined;
  const fields = present({
    phase: given.phase,
    reason: given.reason,
    actor: statusActor === 'own' ? actor.name : statusActor === 'other' ? 'elsewhere' : undefined,
    attempt: flaw === 'bad-attempt' ? 0 : wireAttempt(given),
    max_attempts: 3,
    created_at:
      flaw === 'bad-created' ? 'soon' : wireCreatedMs && instantText(wireCreatedMs, created?.form ?? 'utc'),
    deadline_at:
      flaw === 'bad-deadline' ? 'soon' : deadlineMs && instantText(deadlineMs, deadline?.form ?? 'utc'),
    error: given.hasError ? { type: 'Old', mro: [], message: 'old', traceback: 't' } : undefined,
  }).concat(given.nulls ? [['updated_at', 'null']] : []);
  const deep: [string, string][] =
    flaw === 'deep-status' ? [['deep', '['.repeat(DEEP) + ']'.repeat(DEEP)]] : [];
  return objectText(new Map([...given.statusExtra, ...fields, ...deep]), given.gap);
}
