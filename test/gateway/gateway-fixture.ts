import type { Caller, Gateway } from '../../lib/app/gateway/gateway.ts';
import type { CheckInput, Timer } from '../../lib/app/gateway/gateway-deps.ts';
import { makeGateway } from '../../lib/app/gateway/make-gateway.ts';
import type { Flow } from '../../lib/core/task/flow.ts';
import type { JsonText } from '../../lib/core/text/json-text.ts';
import type { Clock } from '../../lib/ports/clock.ts';
import { ACCEPTED, type Reply } from '../../lib/ports/reply.ts';
import { type RecordedTelemetry, recordingTelemetry } from '../app/a-line.ts';
import { deriveId } from '../core/a-delivery.ts';
import {
  type MemoryArchive,
  type MemoryCancellations,
  type MemoryTasks,
  memoryArchive,
  memoryCancellations,
  memoryTasks,
} from './memory-stores.ts';

export const ME: Caller = { id: 'me' };
export const PAYLOAD = '{"n":1}' as JsonText;

export const FLOWS: readonly Flow[] = [
  { name: 'enhance', entrypoint: 'fetch', routeNext: ['score', 'store'], timeoutSeconds: 120 },
  { name: 'endless', entrypoint: 'fetch', routeNext: [] },
  {
    name: 'checked',
    entrypoint: 'fetch',
    routeNext: [],
    mcp: { inputSchema: { type: 'object', required: ['url'] } },
  },
];

export interface GatewayFixture {
  readonly gateway: Gateway;
  readonly tasks: MemoryTasks;
  readonly cancellations: MemoryCancellations;
  readonly archive: MemoryArchive;
  readonly sent: { readonly actor: string; readonly body: string }[];
  readonly timers: Timer[];
  readonly telemetry: RecordedTelemetry;
}

export interface FixtureOptions {
  readonly clock: Clock;
  readonly tasks?: MemoryTasks;
  readonly flows?: () => readonly Flow[];
  readonly send?: (actor: string) => Promise<Reply>;
  readonly arm?: () => Promise<Reply>;
  readonly checkInput?: CheckInput;
  readonly maxBodyBytes?: number;
  /** Default: t-1, t-2 and so on. */
  readonly newId?: (nth: number) => string;
}

/** A gateway on stores in memory; ids are t-1, t-2 and so on. */
export function gatewayFixture(options: FixtureOptions): GatewayFixture {
  const { clock, tasks = memoryTasks(), flows = () => FLOWS } = options;
  const archive = memoryArchive();
  const cancellations = memoryCancellations();
  const sent: { actor: string; body: string }[] = [];
  const timers: Timer[] = [];
  const telemetry = recordingTelemetry();
  let ids = 0;
  const gateway = makeGateway({
    flows,
    tasks,
    cancellations,
    archive,
    records: archive,
    send: async (actor, body) => {
      const reply = (await options.send?.(actor)) ?? ACCEPTED;
      if (reply.ok) sent.push({ actor, body });
      return reply;
    },
    arm: async (timer) => {
      const reply = (await options.arm?.()) ?? ACCEPTED;
      if (reply.ok) timers.push(timer);
      return reply;
    },
    checkInput: options.checkInput ?? (() => []),
    maxBodyBytes: options.maxBodyBytes ?? 1024 * 1024,
    countBytes: Buffer.byteLength,
    clock,
    newId: () => (options.newId ?? ((nth) => `t-${nth}`))(++ids),
    deriveId,
    telemetry,
    pollMs: 250,
    silentMs: 5_000,
  });
  return { gateway, tasks, cancellations, archive, sent, timers, telemetry };
}
