import type { KnipConfig } from 'knip';

/**
 * `npm run unused` reports files, exports and dependencies that nothing uses. Entry points are the files that something
 * outside the import graph starts or loads. Everything else has to be imported from one of them.
 */
const config: KnipConfig = {
  entry: [
    // Deployed as functions or containers, and loaded by path in the local mesh.
    'functions/*/index.ts',
    'functions/gateway/server.ts',
    // Copied next to a user's handler.
    'runtimes/node/asya-runtime.ts',
    // What a handler imports, and what its tests import.
    'lib/{handler,testing}/index.ts',
    // The CDK app in cdk.json, and the constructs that the package exports.
    'infra/app.ts',
    'infra/constructs/*.ts',
    // Child processes of the local mesh.
    'lib/local/**/{function,worker}-host.ts',
    // Loaded by path into these processes and into a handler's.
    'lib/local/mesh/inspected-sidecar.ts',
    'lib/local/debugger/open-inspector.ts',
    // Started by `npm run demo`, which uses `exec`.
    'tools/demo.ts',
    // Handlers that a manifest names, and programs that a README starts.
    'examples/{hello,image-enhance,resilience-lab}/*.ts',
    'examples/pipeline/consumer.ts',
    'templates/mesh/*.ts',
    // Child processes of the benchmarks.
    'bench/peers/{echo-server,sqs-engine}.ts',
    'bench/lambda/stubs/*.ts',
    // The functions that `npm run bench -- lambda` compares.
    'bench/lambda/bootstrap.cjs',
    'bench/lambda/peers/*-handler.ts',
    // Handlers and functions that tests load by path.
    'test/*/handlers/*.ts',
    'test/local/functions/programs/*.ts',
    'test/infra/meshes/*/*.ts',
    // Programs that tests start as child processes, and modules that they preload there.
    'test/adapters/aws-http/proxy-probe.ts',
    'test/contract/close-child.ts',
    'test/contract/subjects/make-*-transport.ts',
    'test/crew/no-request-timeouts.ts',
    'test/local/{emulator-process,engines-process,function-pool-process}.ts',
    'test/sidecar/{echo-runtime,freeze-at,hold-sqs}.ts',
  ],
  project: [
    '{bench,bin,examples,functions,infra,lib,runtimes,templates,test,tools}/**/*.{cjs,js,ts}',
    '*.ts',
  ],
  vitest: { config: ['vitest.config.ts', 'vitest.stryker.config.ts'] },
  ignoreDependencies: [
    // Provides the `cdk` command.
    'aws-cdk',
    // Resolved from the folder of dynalite, which depends on it.
    'level',
  ],
  // Programs that are not packages of npm. The tests that use them are skipped if they are not installed.
  ignoreBinaries: ['cfn-lint', 'moto_server', 'openssl'],
};

export default config;
