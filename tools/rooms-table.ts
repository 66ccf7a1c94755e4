/**
 * The rooms of this project, and what each may import: the one place where that is written down. A folder that
 * stands in no row here may import nothing of ours, and a package or `node:` module that a row does not name is
 * refused there.
 */
export interface Room {
  /** Folder, from the project's root. */
  readonly room: string;
  /** Other rooms that it may import. Its own files it always may. */
  readonly rooms: readonly string[];
  /** Packages by name; `node:*` stands for Node's own modules, `*` for any package. */
  readonly packages: readonly string[];
}

const CORE = 'lib/core';
const PORTS = 'lib/ports';
/** Small pieces of concurrency that every adapter would otherwise write again. */
const ASYNC = 'lib/async';
const APP = 'lib/app';
const CONFIG = 'lib/config';
const ERROR_HANDLING = 'lib/error-handling';
const ADAPTERS = 'lib/adapters';
const LOCAL = 'lib/local';
/** Puts adapters together for a configuration: what every host would otherwise write again. */
const ASSEMBLY = 'lib/assembly';
const LIB_FOR_FUNCTIONS = [ASSEMBLY, CORE, PORTS, ASYNC, APP, CONFIG, ERROR_HANDLING, ADAPTERS];

/** One folder per outside thing, with the packages that reach it. An adapter never imports another. */
const ADAPTER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'runtime-socket': ['node:*'],
  'runtime-http': ['undici', 'node:*'],
  'runtime-process': ['node:*'],
  sqs: ['@aws-sdk/client-sqs', 'node:*'],
  pubsub: ['@google-cloud/pubsub', 'node:*'],
  rabbitmq: ['amqplib', 'node:*'],
  'cloud-tasks': ['node:*'],
  'google-metadata': ['node:*'],
  'timer-file': ['node:*'],
  'push-http': ['node:*'],
  'json-web-tokens': ['jose'],
  system: ['node:*'],
  log: ['node:*'],
  prometheus: ['prom-client', 'node:*'],
  emf: ['@aws-lambda-powertools/metrics', 'node:*'],
  'health-http': ['node:*'],
  s3: ['@aws-sdk/client-s3', 'node:*'],
  dynamodb: ['@aws-sdk/client-dynamodb', 'node:*'],
  'gateway-http': ['node:*'],
  http: ['hono', 'node:*'],
  'json-schema': ['@cfworker/json-schema'],
  mcp: ['@modelcontextprotocol/sdk'],
  a2a: ['@a2a-js/sdk'],
};

/** Faces of the gateway: they translate a protocol into its use-cases, so these are what they must know. */
const FACES: readonly string[] = ['http', 'mcp', 'a2a'];

export const ROOMS: readonly Room[] = [
  { room: CORE, rooms: [], packages: [] },
  { room: PORTS, rooms: [CORE], packages: [] },
  { room: ASYNC, rooms: [], packages: [] },
  { room: APP, rooms: [CORE, PORTS], packages: [] },
  { room: ERROR_HANDLING, rooms: [CORE, PORTS], packages: [] },
  { room: CONFIG, rooms: [CORE], packages: ['yaml'] },
  ...Object.entries(ADAPTER_PACKAGES).map(([name, packages]) => ({
    room: `${ADAPTERS}/${name}`,
    rooms: [PORTS, ASYNC, CORE, CONFIG, ...(FACES.includes(name) ? [APP] : [])],
    packages,
  })),
  {
    room: ASSEMBLY,
    rooms: [CORE, PORTS, APP, CONFIG, ADAPTERS],
    packages: ['@middy/core', 'aws-lambda', '@hono/node-server', 'yaml', 'node:*'],
  },
  { room: LOCAL, rooms: ['lib', 'functions'], packages: ['*', 'node:*'] },
  { room: 'lib/cli', rooms: ['lib'], packages: ['*', 'node:*'] },
  { room: 'functions', rooms: LIB_FOR_FUNCTIONS, packages: ['*', 'node:*'] },
  // The app reads a mesh's folder as the local mesh does, which is in the assembly; esbuild bundles what is deployed.
  {
    room: 'infra',
    rooms: [CONFIG, CORE, ASSEMBLY],
    packages: ['aws-cdk-lib', 'constructs', 'esbuild', 'node:*'],
  },
  { room: 'bench', rooms: ['lib', 'functions', 'runtimes'], packages: ['*', 'node:*'] },
  { room: 'runtimes', rooms: [], packages: ['node:*'] },
  /** To be copied: they lean on nothing of ours. */
  { room: 'examples', rooms: [], packages: ['node:*'] },
  // The one example of a library: what it shows is the import.
  { room: 'examples/pipeline', rooms: [ERROR_HANDLING], packages: ['node:*'] },
  { room: 'templates', rooms: [], packages: ['node:*'] },
  { room: 'tools', rooms: ['lib', 'infra'], packages: ['*', 'node:*'] },
  {
    room: 'test',
    rooms: ['lib', 'functions', 'infra', 'bench', 'runtimes', 'tools', 'examples', 'templates'],
    packages: ['*', 'node:*'],
  },
];

/** Rooms whose folders keep apart from each other: a function knows no other function. */
export const APART: readonly string[] = ['functions', ADAPTERS];
