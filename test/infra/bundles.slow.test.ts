import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Clients of brokers that no function on Lambda uses. They add megabytes and 200 ms of load time. */
const OTHER_BROKERS = /^(@google-cloud|google-gax|google-auth-library|@grpc|amqplib)$/;

/** The packages in the bundle, including dynamic imports. */
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

test.each(FUNCTIONS_ON_LAMBDA)('%s contains the SQS client and no other broker client', async (name) => {
  const packages = await packagesIn(`functions/${name}/index.ts`);
  expect(packages).toContain('@aws-sdk');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toEqual([]);
});

test('a bundle of a host with a configurable broker contains other clients', async () => {
  const packages = await packagesIn('lib/assembly/from-config/transport-from-config.ts');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toContain('@google-cloud');
});
