import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { SQS_RECORD } from '../../../lib/adapters/sqs/sqs-features.ts';
import type { ContractSubject } from '../contract-subject.ts';
import { type SqsEngine, sqsTestBroker } from './sqs-test-broker.ts';

const PATIENCE_MS = 60_000;
/** With what comes after it: the port may be here by half. */
const ADDRESS = /Running on (http:\/\/127\.0\.0\.1:\d+)\s/;

/** A second opinion on SQS, where it is on the machine. */
export const MOTO: ContractSubject = {
  name: 'sqs (moto)',
  ...absenceOf('moto_server'),
  features: {
    ...SQS_RECORD.features,
    rawAstralCharacters: 'yes',
    describesQueues: 'yes',
    failsSingleSends: 'yes',
    outages: 'yes',
    deepQueues: { no: "moto's cost of a receive grows with the queue's depth: shallow queues only" },
  },
  start: async () => sqsTestBroker(await startMoto()),
};

function absenceOf(command: string): { absence?: string } {
  // Asked, not looked for: a version manager leaves a name on the path for what is not installed.
  const { status, error } = spawnSync(command, ['--help'], { stdio: 'ignore', timeout: PATIENCE_MS });
  if (status === 0) return {};
  return { absence: `${command} cannot be run here (${error?.message ?? `it exits with ${status}`})` };
}

/** On a port that it chooses itself, so that nobody can take it in between. */
async function startMoto(): Promise<SqsEngine> {
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  // Also where the tests end before their time.
  process.once('exit', kill);
  const endpoint = await new Promise<string>((resolve, reject) => {
    let words = '';
    const giveUp = (why: string) => {
      kill();
      reject(new Error(`moto_server ${why}: ${words}`));
    };
    const tooLate = setTimeout(() => giveUp(`said no address within ${PATIENCE_MS} ms`), PATIENCE_MS);
    child.on('error', reject);
    child.on('exit', (code) => giveUp(`ended with ${code}`));
    // It goes on talking, one line for each request: that has to be read, or it stops.
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (words.length < 10_000) words += chunk;
        const [, address] = ADDRESS.exec(words) ?? [];
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
