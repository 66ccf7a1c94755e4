import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFunction } from '../../infra/code/bundle.ts';
import { PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';
import type { DeployedFunction } from './function-process.ts';
import { type SynthesizedFunction, synthesizeMesh } from './synthesize.ts';

const ROOT = join(import.meta.dirname, '../..');

/** What Lambda sets. The keys are the example keys of AWS's documentation, which no account has. */
const LAMBDA = {
  AWS_REGION: 'us-east-1',
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  AWS_SESSION_TOKEN: 'token',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
  AWS_LAMBDA_FUNCTION_VERSION: '1',
  AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/bench',
  AWS_LAMBDA_LOG_STREAM_NAME: 'stream',
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
};

export type FunctionName = 'node' | 'node-gateway' | 'python' | 'python-gateway' | 'plain' | 'powertools';

export interface Stubs {
  readonly sqs: string;
  readonly gateway: string;
}

/** Synthesizes the mesh and bundles the peers, all below `folder`. */
export function deployFunctions(folder: string, stubs: Stubs): ReadonlyMap<FunctionName, DeployedFunction> {
  const programs = programsIn(join(folder, 'bin'));
  const path = `${programs}:/usr/bin:/bin`;
  const actors = synthesizeMesh(join(folder, 'cdk.out'), ['score', 'score-py'], {
    ASYA_GATEWAY_URL: stubs.gateway,
    ASYA_GATEWAY_SECRET: randomBytes(32).toString('hex'),
  });
  const runtime = [
    join(programs, 'node'),
    // As in Lambda's own bootstrap.
    '--no-experimental-require-module',
    '--no-experimental-detect-module',
    join(import.meta.dirname, 'bootstrap.cjs'),
  ] as const;
  const subject = (name: FunctionName, actor: string, hasGateway: boolean): DeployedFunction => {
    const { environment, ...code } = actors.get(actor) as SynthesizedFunction;
    const { ASYA_GATEWAY_URL: _url, ASYA_GATEWAY_SECRET: _secret, ...withoutGateway } = environment;
    return {
      name,
      actor,
      ...code,
      runtime,
      environment: {
        ...LAMBDA,
        PATH: path,
        ...(hasGateway ? environment : withoutGateway),
        ASYA_SQS_ENDPOINT: stubs.sqs,
        // Each execution environment has a /tmp of its own.
        ASYA_RUNTIME_URL: `asya:${join(folder, `${name}.sock`)}`,
      },
    };
  };
  const peer = (name: FunctionName): DeployedFunction => {
    const target = join(folder, name);
    mkdirSync(target);
    const entry = join(import.meta.dirname, `peers/${name}-handler.ts`);
    writeFileSync(join(target, 'index.js'), bundleFunction(entry, ROOT));
    return {
      name,
      actor: 'score',
      folder: target,
      handler: 'index.handler',
      runtime,
      environment: {
        ...LAMBDA,
        PATH: path,
        POWERTOOLS_SERVICE_NAME: 'bench',
        NEXT_QUEUE_URL: `${stubs.sqs}/000000000000/asya-dev-bench-store`,
      },
    };
  };
  return new Map<FunctionName, DeployedFunction>([
    ['node', subject('node', 'score', false)],
    ['node-gateway', subject('node-gateway', 'score', true)],
    ['python', subject('python', 'score-py', false)],
    ['python-gateway', subject('python-gateway', 'score-py', true)],
    ['plain', peer('plain')],
    ['powertools', peer('powertools')],
  ]);
}

/**
 * A folder with the programs of Lambda's images. Node is a copy: only the processes of a function share its pages, as on
 * Lambda, and not the benchmark's own.
 */
function programsIn(folder: string): string {
  mkdirSync(folder);
  copyFileSync(process.execPath, join(folder, 'node'));
  symlinkSync(pythonPath(), join(folder, PYTHON_OF_IMAGE));
  return folder;
}

/** The interpreter of the image if it is installed here, otherwise this machine's. */
function pythonPath(): string {
  for (const program of [PYTHON_OF_IMAGE, 'python3'])
    try {
      const args = ['-c', 'import sys; print(sys.executable)'];
      return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next one.
    }
  throw new Error(`neither ${PYTHON_OF_IMAGE} nor python3 is installed; install one of them`);
}
