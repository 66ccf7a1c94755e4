import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const isSlow = process.env['SLOW'] !== undefined;

export default defineConfig({
  test: {
    include: [isSlow ? 'test/**/*.slow.test.ts' : 'test/**/*.test.ts'],
    // `npm run test:slow` runs these, and so does `.ci/run`.
    exclude: [...configDefaults.exclude, ...(isSlow ? [] : ['test/**/*.slow.test.ts'])],
    // Waits are for what must come, not measurements: a busy machine is given time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // The processes that tests start load the same files again and again.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/asya-node', import.meta.url)) },
    // Most tests wait for a process or a broker: more of them at once than there are cores.
    maxWorkers: 3,
  },
});
