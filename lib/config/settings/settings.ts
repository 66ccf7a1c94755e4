import { settingsByVariable } from './group.ts';
import { ACTOR } from './groups/actor.ts';
import { GATEWAY, REPORTING } from './groups/gateway.ts';
import { LOGGING, PROCESS } from './groups/host.ts';
import { MESH, QUEUES } from './groups/mesh.ts';
import { PUSH } from './groups/push.ts';
import { RESILIENCY } from './groups/resiliency.ts';
import { RUNTIME, RUNTIME_PROCESS } from './groups/runtime.ts';
import { CREW, STORAGE } from './groups/storage.ts';
import type { Group } from './setting.ts';
import { TRANSPORTS } from './transports.ts';

/** Groups under one heading of docs/configuration.md. */
export interface Chapter {
  readonly title: string;
  readonly groups: readonly Group[];
}

const TRANSPORT_CHAPTERS = Object.values(TRANSPORTS).map(
  ({ title, settings }): Chapter => ({ title, groups: [settings] }),
);

/** Every variable of every host, in the order of docs/configuration.md. */
export const CHAPTERS: readonly Chapter[] = [
  { title: 'Actor', groups: [ACTOR] },
  { title: 'Timeout and error handling', groups: [RESILIENCY] },
  { title: 'Runtime', groups: [RUNTIME, RUNTIME_PROCESS] },
  { title: 'Queues', groups: [MESH, QUEUES] },
  ...TRANSPORT_CHAPTERS,
  { title: 'Logs, metrics and shutdown', groups: [LOGGING, PROCESS] },
  { title: 'Storage and crew', groups: [STORAGE, CREW] },
  { title: 'Reports to the gateway', groups: [REPORTING] },
  { title: 'Gateway', groups: [GATEWAY] },
  { title: 'Host on Cloud Run', groups: [PUSH] },
];

/** The same by variable. Every host accepts all of them, so that one environment can serve several. */
export const SETTINGS = settingsByVariable(CHAPTERS.flatMap(({ groups }) => groups));
