import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { MeshCode } from '../../infra/code/mesh-code.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { DEV_WITH_GATEWAY, LETTERS, manifestIn, STUB_CODE, stackOf } from './a-mesh-stack.ts';

/** Deployed with Google's tools, as these pages describe. */
const ON_GOOGLE_CLOUD: Readonly<Record<string, string>> = {
  'cloud-run': 'docs/cloud-run.md',
  'pubsub-delayer': 'docs/pubsub-delayer.md',
};

test('each function on Google Cloud has a page that describes its deployment', () => {
  for (const [folder, page] of Object.entries(ON_GOOGLE_CLOUD)) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(text).toContain(`functions/${folder}/index.ts`);
    expect(text).toContain('gcloud run ');
  }
});

test('every other folder in functions/ is deployed by exactly one construct', () => {
  const constructs = new Map<string, Set<string>>();
  const record = (folder: string, construct: string) =>
    constructs.set(folder, (constructs.get(folder) ?? new Set()).add(construct));
  const recordingCode: MeshCode = {
    actor: (scope, spec, plan) => {
      record(plan.folder, 'Actor');
      return STUB_CODE.actor(scope, spec, plan);
    },
    gateway: (scope, flows) => {
      record('gateway', 'MeshGateway');
      return STUB_CODE.gateway(scope, flows);
    },
    crew: (scope, folder) => {
      record(folder, scope.node.id === 'Gateway' ? 'MeshGateway' : 'Crew');
      return STUB_CODE.crew(scope, folder);
    },
  };
  stackOf(manifestIn(LETTERS), { code: recordingCode, environment: DEV_WITH_GATEWAY });
  const folders = readdirSync(join(ROOT, 'functions')).filter((folder) => !(folder in ON_GOOGLE_CLOUD));
  expect([...constructs.keys()].sort()).toEqual(folders.sort());
  for (const [, by] of constructs) expect(by.size).toBe(1);
});
