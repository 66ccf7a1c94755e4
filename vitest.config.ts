import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const SLOW = 'test/**/*.slow.test.ts';
const CONTRACT = 'test/contract/**/*.test.ts';

/** Each test file is run by one command of `.ci/run`. */
const SUITES = {
  // `npm test`, with the contract of what runs inside the tests.
  quick: { include: ['test/**/*.test.ts'], exclude: [SLOW] },
  // `npm run test:slow`
  slow: { include: [SLOW], exclude: [CONTRACT] },
  // `npm run test:transports`, which leaves out what the quick suite has tried in the same run.
  transports: { include: [CONTRACT], exclude: [] },
};

function chosenSuite(): keyof typeof SUITES {
  if (process.env['TRANSPORTS'] !== undefined) return 'transports';
  return process.env['SLOW'] === undefined ? 'quick' : 'slow';
}

/**
 * They load whole functions, which read their settings once: each has a worker of its own. The others share workers,
 * because to start one takes longer than most of them.
 */
const ALONE = ['test/functions/**/*.test.ts', 'test/gateway/lambda.test.ts'];

const { include, exclude } = SUITES[chosenSuite()];
const excluded = [...configDefaults.exclude, ...exclude];

// Files are named here alone: lists of the root and of a project are added up, and everything would run twice.
const PROJECTS =
  chosenSuite() === 'quick'
    ? [
        { name: 'quick', include, exclude: [...excluded, ...ALONE], isolate: false },
        { name: 'alone', include: ALONE, exclude: excluded },
      ]
    : [{ name: chosenSuite(), include, exclude: excluded }];

export default defineConfig({
  test: {
    globalSetup: 'test/support/temporary-files.ts',
    projects: PROJECTS.map((test) => ({ extends: true as const, test })),
    // Waits are for what must come, not measurements: a busy machine is given time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    env: {
      // The processes that tests start load the same files again and again.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/asya-node', import.meta.url)),
      // Half of a synthesis, and no more than warnings, which `cdk synth` gives too.
      CDK_VALIDATION: 'false',
    },
    // Most tests wait for a process or a broker, the slow ones most of all: more of them at once than there are cores.
    maxWorkers: chosenSuite() === 'slow' ? 4 : 3,
  },
});
