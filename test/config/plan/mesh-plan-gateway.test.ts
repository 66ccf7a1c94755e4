import { describe, expect, it } from 'vitest';
import type { Manifest } from '../../../lib/config/manifest/manifest.ts';
import { isActorPlan } from '../../../lib/config/plan/function-plan.ts';
import { planMesh } from '../../../lib/config/plan/mesh-plan.ts';
import { readGatewayConfig } from '../../../lib/config/settings/read-host-config.ts';
import { writeEnvironment } from '../../../lib/config/settings/write-environment.ts';
import { NO_RESILIENCY } from '../../../lib/core/policy/policy.ts';

const MANIFEST: Manifest = {
  actors: [
    {
      name: 'score',
      file: 'score.yaml',
      labels: {},
      runtime: { kind: 'node', handler: 'score.ts.score' },
      timeoutMs: 5_000,
      resiliency: NO_RESILIENCY,
      scaling: { maxReplicas: 2, batchSize: 1, batchWindowSeconds: 0, concurrency: 1 },
      memoryMb: 128,
      environment: {},
      next: [],
    },
  ],
  flows: [],
};
const SETTINGS = { region: 'us-east-1', storage: { bucket: 'b', table: 't' }, namespace: 'prod' };
const GATEWAY = { url: 'http://gateway:8080', secret: 's'.repeat(32) };

describe('a mesh without a gateway', () => {
  it('has no timers and no reports', () => {
    const { functions } = planMesh(MANIFEST, SETTINGS);
    expect(functions.map(({ actor }) => actor)).toEqual(['score', 'x-sink', 'x-sump', 'x-dlq']);
    expect(JSON.stringify(functions)).not.toContain('x-gateway');
    for (const { config } of functions) expect(config).not.toHaveProperty('gatewaySecret');
  });
});

describe('a mesh with a gateway', () => {
  const { functions } = planMesh(MANIFEST, { ...SETTINGS, gateway: GATEWAY });

  it('has a queue for its timers and a function that may send to it', () => {
    expect(functions.at(-1)).toMatchObject({
      actor: 'x-gateway',
      folder: 'gateway-timer',
      queue: { name: 'asya-prod-x-gateway', deadLetterName: 'asya-prod-x-gateway-dlq' },
      sources: ['asya-prod-x-gateway'],
      sendsTo: ['asya-prod-x-gateway'],
      config: { storage: SETTINGS.storage },
    });
    const dlq = functions.find(({ actor }) => actor === 'x-dlq');
    expect(dlq?.sources).toContain('asya-prod-x-gateway-dlq');
  });

  it('receives reports from every actor and the crew', () => {
    const reporting = functions.filter(isActorPlan);
    expect(reporting).toHaveLength(functions.length - 1);
    for (const { actor, config } of reporting) {
      expect([actor, config.gatewayUrl, config.gatewaySecret]).toEqual([actor, GATEWAY.url, GATEWAY.secret]);
    }
  });

  it('has timers whose written environment reads the same', () => {
    const { config } = functions.at(-1) as (typeof functions)[0];
    const reading = readGatewayConfig(writeEnvironment(config).variables, () => ({ problem: 'no file' }));
    expect(reading).toEqual({ config });
  });
});
