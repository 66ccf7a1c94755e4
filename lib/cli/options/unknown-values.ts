import { suggestion } from '../../core/text/nearest.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { RunIndex } from '../../ports/run-index.ts';
import { oneLine } from '../output/plain-text.ts';

/** The values of the filter options that name something. */
export interface NamingOptions {
  readonly group?: string;
  readonly actor?: string;
  readonly flow?: string;
  readonly reason?: string;
}

interface Known {
  readonly failures: FailureIndex;
  readonly runs: RunIndex;
  /** Set if the mesh runs on this machine. */
  readonly mesh?: {
    readonly actors: readonly string[];
    readonly flows: readonly { readonly name: string }[];
  };
}

/** How many of the newest ends are read to learn names. */
const MAX_RUNS = 500;
const MAX_LISTED = 10;
const CREW = ['x-sink', 'x-sump', 'x-dlq'];
const REASONS = [
  'Completed',
  'PolicyExhausted',
  'PolicyRouted',
  'NonRetryableFailure',
  'RuntimeError',
  'Timeout',
  'ActorTimeout',
  'ParseError',
  'ValidationError',
  'RouteMismatch',
  'DeliveryExhausted',
  'Dropped',
  'Escalated',
];

/**
 * For a filter that matched nothing: one message for each value that nothing in the mesh has, with the nearest known one.
 * The names come from the mesh on this machine, the newest failures and the newest ends. Stores that cannot be read are
 * left out: the command has read them before.
 */
export async function unknownValues(options: NamingOptions, known: Known): Promise<readonly string[]> {
  const { group, actor, flow, reason } = options;
  if ([group, actor, flow, reason].every((value) => value === undefined)) return [];
  const page = await known.failures.list({});
  const failures = page.ok ? page.failures : [];
  const ends = await known.runs.list({}, { limit: MAX_RUNS });
  const records = ends.ok ? ends.records : [];
  const entries = [...failures, ...records];
  const words = {
    '--group': [group, failures.map((one) => one.fingerprint)],
    '--actor': [actor, [...(known.mesh?.actors ?? []), ...CREW, ...entries.map((one) => one.actor)]],
    '--flow': [
      flow,
      [...(known.mesh?.flows ?? []).map(({ name }) => name), ...entries.flatMap((one) => one.flow ?? [])],
    ],
    '--reason': [reason, [...REASONS, ...entries.map((one) => one.reason)]],
  } as const satisfies Readonly<Record<string, readonly [string | undefined, readonly string[]]>>;
  return Object.entries(words).flatMap(([option, [value, all]]) =>
    value === undefined || all.includes(value) ? [] : [unknownText(option, value, new Set(all))],
  );
}

function unknownText(option: string, value: string, words: ReadonlySet<string>): string {
  const known = [...words].filter((word) => word !== '').map((word) => oneLine(word, 63));
  const some = known.slice(0, MAX_LISTED).join(', ');
  const hint =
    suggestion(value, known) ||
    (known.length === 0 ? '' : `; known: ${some}${known.length > MAX_LISTED ? ', …' : ''}`);
  return `asya: ${option} is "${oneLine(value, 100)}", which is not known in this mesh${hint}`;
}
