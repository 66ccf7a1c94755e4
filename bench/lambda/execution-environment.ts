import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';
import { pythonPath } from './python.ts';

/** What Lambda sets. The keys are the example keys of AWS's documentation, which no account has. */
export const LAMBDA = {
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

/** The programs of Lambda's images. */
export interface Programs {
  /** For PATH. */
  readonly path: string;
  /** Starts the runtime interface for Node. */
  readonly nodeRuntime: readonly [string, ...string[]];
}

/** Node is a copy: only the processes of a function share its pages, as on Lambda, and not the benchmark's own. */
export function programsIn(folder: string): Programs {
  mkdirSync(folder);
  const node = join(folder, 'node');
  copyFileSync(process.execPath, node);
  symlinkSync(pythonPath(), join(folder, PYTHON_OF_IMAGE));
  return {
    path: `${folder}:/usr/bin:/bin`,
    nodeRuntime: [
      node,
      // As in Lambda's own bootstrap.
      '--no-experimental-require-module',
      '--no-experimental-detect-module',
      join(import.meta.dirname, 'bootstrap.cjs'),
    ],
  };
}
