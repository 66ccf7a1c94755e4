import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const SLOW = 'test/**/*.slow.test.ts';
const CONTRACT = 'test/contract/**/*.test.ts';

/** Each test file belongs to one suite, and `.ci/run` runs each suite. */
const SUITES = {
  // `npm test`, including the transport contract with the in-memory broker.
  quick: { include: ['test/**/*.test.ts'], exclude: [SLOW] },
  // `npm run test:slow`
  slow: { include: [SLOW], exclude: [CONTRACT] },
  // `npm run test:transports`; in `.ci/run` it reuses the contract results of the quick suite.
  transports: { include: [CONTRACT], exclude: [] },
};

function chosenSuite(): keyof typeof SUITES {
  if (process.env['TRANSPORTS'] !== undefined) return 'transports';
  return process.env['SLOW'] === undefined ? 'quick' : 'slow';
}

/**
 * These files load whole functions, which read their settings once, so each file needs its own worker. The others share
 * workers, because starting a worker takes longer than most of them.
 */
const ISOLATED = ['test/functions/**/*.test.ts', 'test/gateway/lambda.test.ts'];

const { include, exclude } = SUITES[chosenSuite()];
const excluded = [...configDefaults.exclude, ...exclude];

// Only the projects list files: vitest adds the lists of the root and of a project, and would run everything twice.
const PROJECTS =
  chosenSuite() === 'quick'
    ? [
        { name: 'quick', include, exclude: [...excluded, ...ISOLATED], isolate: false },
        { name: 'isolated', include: ISOLATED, exclude: excluded },
      ]
    : [{ name: chosenSuite(), include, exclude: excluded }];

export default defineConfig({
  test: {
    globalSetup: 'test/support/temporary-files.ts',
    projects: PROJECTS.map((test) => ({ extends: true as const, test })),
    // Long, because the tests do not measure time and a busy machine may be slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    env: {
      // Processes that tests start load the same files, so a compile cache saves time.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/asya-node', import.meta.url)),
      // Validation takes half of the synthesis time and only prints warnings, which `cdk synth` prints too.
      CDK_VALIDATION: 'false',
    },
    // More workers than cores, because most tests wait for a process or a broker, especially the slow ones.
    maxWorkers: chosenSuite() === 'slow' ? 4 : 3,
  },
});
