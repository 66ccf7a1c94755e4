import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** What speaks to brokers that no function on Lambda has to do with: megabytes, and a fifth of a second to load. */
const OTHER_BROKERS = /^(@google-cloud|google-gax|google-auth-library|@grpc|amqplib)$/;

/** The packages whose files end in the bundle; imports that are made only when needed are in it too. */
async function packagesIn(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  const names = Object.keys(metafile.inputs).flatMap((path) => {
    const [, name] = /.*node_modules\/([^/]+)\//.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].toSorted();
}

const FUNCTIONS_ON_LAMBDA = [
  'sidecar',
  'x-sink',
  'x-sump',
  'x-dlq',
  'gateway',
  'gateway-reports',
  'gateway-timer',
];

test.each(FUNCTIONS_ON_LAMBDA)('%s carries the client of SQS and of no other broker', async (name) => {
  const packages = await packagesIn(`functions/${name}/index.ts`);
  expect(packages).toContain('@aws-sdk');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toEqual([]);
});

test('where a host may choose its broker, a bundle would carry the others too', async () => {
  const packages = await packagesIn('lib/assembly/from-config/transport-from-config.ts');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toContain('@google-cloud');
});
