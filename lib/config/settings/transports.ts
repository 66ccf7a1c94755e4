import type { Mistake } from '../../core/text/mistake.ts';
import { readGroup, writeGroup } from './group.ts';
import { PUBSUB } from './groups/pubsub.ts';
import { RABBITMQ } from './groups/rabbitmq.ts';
import { SQS } from './groups/sqs.ts';
import type { Group, Values } from './setting.ts';
import type { TransportContext, TransportSettings } from './transport-settings.ts';
import type { Environment } from './variables.ts';

/** Every transport by its name, which is also its key in the configuration. */
export const TRANSPORTS = { sqs: SQS, pubsub: PUBSUB, rabbitmq: RABBITMQ };

export type TransportName = keyof typeof TRANSPORTS;

export const TRANSPORT_NAMES = Object.keys(TRANSPORTS) as readonly TransportName[];

/** The settings of every transport, whichever is selected. */
export type TransportsConfig = {
  readonly [Name in TransportName]: Values<(typeof TRANSPORTS)[Name]['settings']>;
};

export const DEFAULT_TRANSPORT: TransportName = 'sqs';

/** The transport named by `ASYA_TRANSPORT`; if it is not set, the one whose own variable is set. */
export function selectTransport(
  env: Environment,
  named: TransportName | undefined,
  mistakes: Mistake[],
): TransportName {
  if (named !== undefined || env['ASYA_TRANSPORT'] !== undefined) return named ?? DEFAULT_TRANSPORT;
  const candidates = TRANSPORT_NAMES.filter((name) => env[TRANSPORTS[name].selectedBy] !== undefined);
  const [first = DEFAULT_TRANSPORT, ...others] = candidates;
  if (first === DEFAULT_TRANSPORT || others.length === 0) return first;
  const variables = candidates.map((name) => TRANSPORTS[name].selectedBy);
  const problem = `is not set, and both ${variables.join(' and ')} are; set it to ${candidates.join(' or ')}`;
  mistakes.push({ place: 'ASYA_TRANSPORT', problem });
  return first;
}

export function readTransports(
  selected: TransportName,
  context: Omit<TransportContext, 'isSelected'>,
): TransportsConfig {
  const { env, mistakes } = context;
  const sections = TRANSPORT_NAMES.map((name) => {
    const transport: TransportSettings<Group> = TRANSPORTS[name] as never;
    const read = readGroup(transport.settings, env, mistakes);
    return [name, transport.complete(read, { ...context, isSelected: name === selected })];
  });
  return Object.fromEntries(sections);
}

/** The variables of every transport, without defaults. */
export function writeTransports(
  config: TransportsConfig,
  actor: TransportContext['actor'],
): Record<string, string> {
  const written = TRANSPORT_NAMES.map((name) => {
    const transport: TransportSettings<Group> = TRANSPORTS[name] as never;
    const values = config[name] as Values<Group>;
    return writeGroup(transport.settings, transport.withoutComputed?.(values, actor) ?? values);
  });
  return Object.assign({}, ...written);
}
