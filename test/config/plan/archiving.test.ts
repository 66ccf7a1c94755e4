import { describe, expect, it } from 'vitest';
import { planMesh } from '../../../lib/config/plan/mesh-plan.ts';

/** What an environment chooses about the archive applies to x-sink only. */

const SETTINGS = { region: 'us-east-1', storage: { bucket: 'b', table: 't' } };

function plansOf(changes: Partial<Parameters<typeof planMesh>[1]>) {
  const { functions } = planMesh({ actors: [], flows: [] }, { ...SETTINGS, ...changes });
  return new Map(functions.map((plan) => [plan.actor, plan]));
}

describe('the plan of the crew', () => {
  it('collects nothing and archives everything by default', () => {
    const sink = plansOf({}).get('x-sink');
    expect(sink).toMatchObject({ batchSize: 10, batchWindowSeconds: 0 });
    expect(sink?.config).not.toHaveProperty('archives');
  });

  it('lets x-sink collect envelopes, and hides them for as much longer', () => {
    const before = plansOf({});
    const plans = plansOf({ archiveWindowSeconds: 5 });
    const sink = plans.get('x-sink');
    expect(sink).toMatchObject({ batchSize: 100, batchWindowSeconds: 5 });
    expect(sink?.config.runtime.concurrency).toBe(100);
    const hiddenSeconds = before.get('x-sink')?.queue?.plan.visibilitySeconds ?? 0;
    expect(sink?.queue?.plan.visibilitySeconds).toBe(hiddenSeconds + 5);
    for (const name of ['x-sump', 'x-dlq']) expect(plans.get(name)).toEqual(before.get(name));
  });

  it('tells x-sink what to archive', () => {
    const plans = plansOf({ archives: 'failed' });
    expect(plans.get('x-sink')?.config).toMatchObject({ archives: 'failed' });
    for (const name of ['x-sump', 'x-dlq']) expect(plans.get(name)?.config).not.toHaveProperty('archives');
  });
});
