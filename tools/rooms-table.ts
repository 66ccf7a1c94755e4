/**
 * The rooms of this project and what each may import. This table is the source of truth: `npm run rooms` rejects every
 * import that it does not allow. A folder without a row may not import anything of ours, and a row allows only the
 * packages and `node:` modules that it names.
 */
export interface Room {
  /** Folder, relative to the project's root. A room inside another room follows its own row only. */
  readonly room: string;
  /** Other rooms that it may import. A room may always import its own files. */
  readonly rooms: readonly string[];
  /** Packages by name. `node:*` allows Node's own modules, `*` allows any package. */
  readonly packages: readonly string[];
}

const CORE = 'lib/core';
const PORTS = 'lib/ports';
/** Small concurrency helpers that several adapters share. */
const ASYNC = 'lib/async';
const APP = 'lib/app';
const CONFIG = 'lib/config';
const ERROR_HANDLING = 'lib/error-handling';
const ADAPTERS = 'lib/adapters';
const ASSEMBLY = 'lib/assembly';
const LOCAL = 'lib/local';
const CLI = 'lib/cli';
/** What users import in a handler. */
const HANDLER = 'lib/handler';

/** Core's layers, lowest first. A layer imports only the layers below it. */
const CORE_LAYERS: readonly (readonly [layer: string, below: readonly string[]])[] = [
  ['text', []],
  ['envelope', ['text']],
  ['policy', ['text', 'envelope']],
  ['delivery', ['text', 'envelope', 'policy']],
  ['failure', ['text', 'envelope']],
  ['task', ['text', 'envelope', 'failure']],
  ['pipeline', ['text', 'envelope', 'policy']],
];

/** The use cases. Each imports only the ones named here. */
const USE_CASES: readonly (readonly [useCase: string, others: readonly string[]])[] = [
  ['delivery', []],
  ['secrets', []],
  ['crew', []],
  ['replay', []],
  ['runs', []],
  ['gateway', ['delivery']],
  ['simulation', ['delivery']],
  ['delayer', []],
];

/** One folder per outside system, with the packages that reach it. An adapter never imports another one. */
const ADAPTER_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'runtime-socket': ['node:*'],
  'runtime-http': ['undici', 'node:*'],
  'runtime-process': ['node:*'],
  'handler-credentials': ['@aws-sdk/client-sts', 'node:*'],
  sqs: ['@aws-sdk/client-sqs', 'node:*'],
  'aws-http': ['node:*'],
  'http-client': ['node:*'],
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
  'secrets-manager': ['@aws-sdk/client-secrets-manager'],
  ssm: ['@aws-sdk/client-ssm'],
  'gateway-http': ['node:*'],
  http: ['hono', 'node:*'],
  'json-schema': ['@cfworker/json-schema'],
  mcp: ['@modelcontextprotocol/sdk'],
  a2a: ['@a2a-js/sdk'],
};

/** Adapters that translate a protocol into the gateway's use cases, and therefore import them. */
const FACES: readonly string[] = ['http', 'mcp', 'a2a'];

const within = (folder: string, names: readonly string[]): string[] =>
  names.map((name) => `${folder}/${name}`);

export const ROOMS: readonly Room[] = [
  ...CORE_LAYERS.map(([layer, below]) => ({
    room: `${CORE}/${layer}`,
    rooms: within(CORE, below),
    packages: [],
  })),
  { room: PORTS, rooms: [CORE], packages: [] },
  { room: ASYNC, rooms: [], packages: [] },
  { room: HANDLER, rooms: [], packages: [] },
  ...USE_CASES.map(([useCase, others]) => ({
    room: `${APP}/${useCase}`,
    rooms: [CORE, PORTS, ASYNC, ...within(APP, others)],
    packages: [],
  })),
  { room: ERROR_HANDLING, rooms: [CORE, PORTS], packages: [] },
  { room: `${CONFIG}/settings`, rooms: [CORE], packages: [] },
  { room: `${CONFIG}/manifest`, rooms: [CORE, `${CONFIG}/settings`], packages: ['yaml'] },
  { room: `${CONFIG}/plan`, rooms: [CORE, `${CONFIG}/settings`, `${CONFIG}/manifest`], packages: [] },
  // Limits and costs of a planned mesh at a rate, and a model of its day in virtual time.
  {
    room: `${CONFIG}/scaling`,
    rooms: [CORE, `${CONFIG}/settings`, `${CONFIG}/manifest`, `${CONFIG}/plan`],
    packages: [],
  },
  {
    room: `${CONFIG}/load-model`,
    rooms: [CORE, `${CONFIG}/settings`, `${CONFIG}/manifest`, `${CONFIG}/plan`, `${CONFIG}/scaling`],
    packages: [],
  },
  ...Object.entries(ADAPTER_PACKAGES).map(([name, packages]) => ({
    room: `${ADAPTERS}/${name}`,
    rooms: [
      PORTS,
      ASYNC,
      CORE,
      `${CONFIG}/settings`,
      `${CONFIG}/plan`,
      ...(FACES.includes(name) ? [`${APP}/gateway`] : []),
    ],
    packages,
  })),
  // Builds use cases and adapters from a configuration.
  {
    room: `${ASSEMBLY}/from-config`,
    rooms: [CORE, PORTS, ASYNC, APP, CONFIG, ADAPTERS],
    packages: ['yaml', 'node:*'],
  },
  // The parts that differ between Lambda, Cloud Run and the worker: how a delivery arrives, and how long the process lives.
  {
    room: `${ASSEMBLY}/hosts`,
    rooms: [CORE, PORTS, ASYNC, APP, CONFIG, ADAPTERS, `${ASSEMBLY}/from-config`],
    packages: ['@middy/core', 'aws-lambda', '@hono/node-server', 'node:*'],
  },
  // Reads a mesh's folder, and finds a mesh that runs on this machine.
  {
    room: `${ASSEMBLY}/mesh`,
    rooms: [CORE, CONFIG],
    packages: ['yaml', 'acorn', 'esbuild', 'node:*'],
  },
  // Scenarios for the simulation of a mesh, from the command line or a test.
  { room: `${ASSEMBLY}/simulation`, rooms: [CORE, PORTS, APP, CONFIG, ADAPTERS], packages: [] },
  {
    room: `${LOCAL}/engines`,
    rooms: [CORE, CONFIG, ASYNC, ADAPTERS],
    packages: ['*', 'node:*'],
  },
  // Debuggers of handlers, and what pauses while one is attached.
  { room: `${LOCAL}/debugger`, rooms: [CORE, PORTS, ASYNC], packages: ['node:*'] },
  {
    room: `${LOCAL}/functions`,
    rooms: [CORE, PORTS, ASYNC, CONFIG, ADAPTERS, `${LOCAL}/engines`, `${LOCAL}/debugger`],
    packages: ['*', 'node:*'],
  },
  // Which files belong to a handler.
  { room: `${LOCAL}/imports`, rooms: [CONFIG], packages: ['esbuild', 'node:*'] },
  {
    room: `${LOCAL}/mesh`,
    rooms: [
      CORE,
      PORTS,
      ASYNC,
      APP,
      CONFIG,
      ADAPTERS,
      ASSEMBLY,
      'functions',
      `${LOCAL}/engines`,
      `${LOCAL}/debugger`,
      `${LOCAL}/functions`,
      `${LOCAL}/imports`,
    ],
    packages: ['*', 'node:*'],
  },
  { room: `${CLI}/output`, rooms: [CORE, PORTS, APP, CONFIG, ADAPTERS, LOCAL], packages: ['*', 'node:*'] },
  // How commands read and declare the options that they share.
  { room: `${CLI}/options`, rooms: [CORE, PORTS, APP, CLI], packages: ['commander'] },
  // What users import in a test. It calls handlers with the code of the runtimes.
  {
    room: 'lib/testing',
    rooms: [
      CORE,
      PORTS,
      APP,
      CONFIG,
      ADAPTERS,
      HANDLER,
      'runtimes',
      `${ASSEMBLY}/mesh`,
      `${ASSEMBLY}/simulation`,
      `${LOCAL}/mesh`,
      `${CLI}/output`,
    ],
    packages: ['node:*'],
  },
  { room: CLI, rooms: ['lib'], packages: ['*', 'node:*'] },
  {
    room: 'functions',
    rooms: [ASSEMBLY, CORE, PORTS, ASYNC, APP, CONFIG, ERROR_HANDLING, ADAPTERS],
    packages: ['*', 'node:*'],
  },
  // Bundles what is deployed.
  { room: 'infra/code', rooms: [CORE, CONFIG], packages: ['aws-cdk-lib', 'constructs', 'esbuild', 'node:*'] },
  {
    room: 'infra/constructs',
    rooms: [CORE, CONFIG, `${ASSEMBLY}/mesh`, 'infra/code'],
    packages: ['aws-cdk-lib', 'constructs', 'node:*'],
  },
  // A stack reads a mesh's folder as the local mesh does.
  {
    room: 'infra/stacks',
    rooms: [CORE, CONFIG, `${ASSEMBLY}/mesh`, 'infra/code', 'infra/constructs'],
    packages: ['aws-cdk-lib', 'constructs', 'node:*'],
  },
  {
    room: 'infra',
    rooms: [CORE, CONFIG, `${ASSEMBLY}/mesh`],
    packages: ['aws-cdk-lib', 'constructs', 'node:*'],
  },
  { room: 'bench', rooms: ['lib', 'functions', 'runtimes', 'infra'], packages: ['*', 'node:*'] },
  { room: 'runtimes', rooms: [HANDLER], packages: ['node:*'] },
  // Users copy these, so they use nothing of ours.
  { room: 'examples', rooms: [], packages: ['node:*'] },
  // This example shows how to import the library.
  { room: 'examples/pipeline', rooms: [ERROR_HANDLING], packages: ['node:*'] },
  // This example shows how a handler uses an AWS SDK with its own role.
  { room: 'examples/image-enhance', rooms: [], packages: ['@aws-sdk/client-s3', 'node:*'] },
  // Copied into a mesh, where the package is installed.
  {
    room: 'templates',
    rooms: [],
    packages: ['asya-serverless/handler', 'asya-serverless/testing', 'node:*'],
  },
  { room: 'tools', rooms: ['lib', 'infra'], packages: ['*', 'node:*'] },
  {
    room: 'test',
    rooms: ['lib', 'functions', 'infra', 'bench', 'runtimes', 'tools', 'examples', 'templates'],
    packages: ['*', 'node:*'],
  },
];

/** Rooms whose folders never import each other: for example, no function imports another function. */
export const APART: readonly string[] = ['functions', ADAPTERS];
