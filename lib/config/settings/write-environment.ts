import { NO_RESILIENCY } from '../../core/policy/policy.ts';
import { resiliencyInput } from '../../core/policy/resiliency-input.ts';
import { writeGroup } from './group.ts';
import { ACTOR } from './groups/actor.ts';
import { GATEWAY, REPORTING } from './groups/gateway.ts';
import { LOGGING, PROCESS } from './groups/host.ts';
import { MESH, QUEUES } from './groups/mesh.ts';
import { PUSH } from './groups/push.ts';
import { RESILIENCY } from './groups/resiliency.ts';
import { RUNTIME } from './groups/runtime.ts';
import { CREW, STORAGE } from './groups/storage.ts';
import type { BrokerConfig, FullConfig } from './host-config.ts';
import { writeTransports } from './transports.ts';

export interface WrittenEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** The content of the file that `ASYA_RESILIENCY_FILE` names, if a file was requested. */
  readonly resiliencyFile?: string;
}

/** The configuration of any host. A group that it does not contain is not written. */
export type WritableConfig = BrokerConfig &
  Partial<Omit<FullConfig, keyof BrokerConfig>> & {
    readonly actor: Partial<FullConfig['actor']>;
    readonly runtime: Partial<FullConfig['runtime']>;
  };

/**
 * The inverse of reading: variables that yield this configuration. Defaults are omitted, because Lambda's environment
 * is limited to 4 KB in total. With `resiliencyPath` the policies go into a file for the same reason.
 */
export function writeEnvironment(config: WritableConfig, resiliencyPath?: string): WrittenEnvironment {
  const { actor, runtime } = config;
  const { policies, rules } = resiliencyInput(actor.resiliency ?? NO_RESILIENCY);
  const variables = {
    ...writeGroup(MESH, config),
    ...writeGroup(ACTOR, actor),
    ...writeGroup(RESILIENCY, {
      timeoutMs: actor.timeoutMs,
      ...(resiliencyPath === undefined
        ? {
            policies: Object.keys(policies).length === 0 ? undefined : JSON.stringify(policies),
            rules: rules.length === 0 ? undefined : JSON.stringify(rules),
          }
        : { file: resiliencyPath }),
    }),
    // A crew actor is recognized by having no runtime, and inherited descriptors have no URL.
    ...writeGroup(
      RUNTIME,
      actor.crew === undefined && runtime.address?.kind !== 'inherited'
        ? runtime
        : { ...runtime, address: undefined },
    ),
    ...writeTransports(config, actor),
    ...writeGroup(QUEUES, config.queues ?? {}),
    ...writeGroup(REPORTING, config),
    ...writeGroup(GATEWAY, config.gateway ?? {}),
    ...writeGroup(PUSH, config.push ?? {}),
    ...writeGroup(STORAGE, config.storage ?? {}),
    ...writeGroup(CREW, config),
    ...writeGroup(LOGGING, config),
    ...(config.gracePeriodMs === undefined ? {} : writeGroup(PROCESS, config)),
  };
  return resiliencyPath === undefined
    ? { variables }
    : { variables, resiliencyFile: JSON.stringify({ policies, rules }) };
}
