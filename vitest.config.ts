import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Most tests wait for a process or a broker: more of them at once than there are cores.
    maxWorkers: 3,
  },
});
