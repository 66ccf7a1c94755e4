import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { type SqsEngine, sqsTestBroker } from './sqs-test-broker.ts';

const TIMEOUT_MS = 60_000;
/** Ends with whitespace, because a chunk of output may end within the port. */
const ADDRESS = /Running on (http:\/\/127\.0\.0\.1:\d+)\s/;

/** Another SQS implementation, if it is installed. */
export const MOTO: ContractSubject = {
  name: 'sqs (moto)',
  ...availabilityOf('moto_server'),
  features: {
    ...SQS_RECORD.features,
    rawAstralCharacters: 'yes',
    describesQueues: 'yes',
    failsSingleSends: 'yes',
    outages: 'yes',
    deepQueues: { no: 'a receive in moto takes longer the more messages the queue has' },
  },
  start: async () => sqsTestBroker(await startMoto()),
};

function availabilityOf(command: string): Pick<ContractSubject, 'unavailable'> {
  // Runs the command: a version manager may have a shim on the path for a program that is not installed.
  const { status, error } = spawnSync(command, ['--help'], { stdio: 'ignore', timeout: TIMEOUT_MS });
  if (status === 0) return {};
  return { unavailable: `${command} cannot be run here (${error?.message ?? `it exits with ${status}`})` };
}

/** moto chooses the port itself, so that no other process can take it meanwhile. */
async function startMoto(): Promise<SqsEngine> {
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  // Also if the test run ends early.
  process.once('exit', kill);
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = '';
    const giveUp = (why: string) => {
      kill();
      reject(new Error(`moto_server ${why}: ${output}`));
    };
    const tooLate = setTimeout(() => giveUp(`printed no address within ${TIMEOUT_MS} ms`), TIMEOUT_MS);
    child.on('error', reject);
    child.on('exit', (code) => giveUp(`ended with ${code}`));
    // moto prints a line for each request. Its output has to be read, or it blocks.
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (output.length < 10_000) output += chunk;
        const [, address] = ADDRESS.exec(output) ?? [];
        if (address === undefined) return;
        clearTimeout(tooLate);
        resolve(address);
      });
    }
  });
  child.removeAllListeners('exit');
  return {
    endpoint,
    account: '123456789012',
    close: async () => {
      process.off('exit', kill);
      const gone = once(child, 'exit');
      kill();
      await gone;
    },
  };
}
