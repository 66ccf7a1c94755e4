import { expect } from 'vitest';
import type { Law } from '../law.ts';

export const TRAIT_LAWS: readonly Law[] = [
  {
    name: 'its traits match its features',
    run: async ({ features, transport }) => {
      const { traits } = await transport({ visibilityMs: 30_000 });
      expect({
        delays: traits.maxDelayMs > 0,
        redeliversAfterTimeout: traits.visibilityMs !== undefined,
        countsReceives: traits.countsReceives,
        refusesLargeBodies: Number.isFinite(traits.maxBodyBytes),
      }).toEqual({
        delays: features.delays === 'yes',
        redeliversAfterTimeout: features.redeliversAfterTimeout === 'yes',
        countsReceives: features.countsReceives === 'yes',
        refusesLargeBodies: features.refusesLargeBodies === 'yes',
      });
      expect(traits.maxBatch).toBeGreaterThanOrEqual(1);
      expect(traits.name).toMatch(/^[a-z]+$/);
    },
  },
];
