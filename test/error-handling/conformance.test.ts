import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { handleFailure } from '../../lib/error-handling/handle-failure.ts';
import { settingsFromEnvironment } from '../../lib/error-handling/policy.ts';
import type { PipelineFileCase } from '../conformance/run-case.ts';
import { aMessage, aPipeline } from './a-pipeline.ts';

const CASES = join(import.meta.dirname, '../../../shared/spec/conformance/pipeline.json');

interface Case extends PipelineFileCase {
  readonly name: string;
  readonly expect: { readonly action: string; readonly escalate?: boolean };
}

const cases: readonly Case[] = existsSync(CASES) ? JSON.parse(readFileSync(CASES, 'utf8')) : [];
if (cases.length === 0)
  console.warn(`the conformance cases of the pipeline are skipped: ${CASES} does not exist`);

/** The settings of a case as environment variables. A setting that the case does not have is not set. */
function settingsOf(given: Case) {
  const names = ['RETRY_MESSAGE_DELAYS_SECONDS', 'EXPIRED_MESSAGE_AFTER_HOURS'] as const;
  const set = names.filter((name) => given[name] !== undefined);
  const read = settingsFromEnvironment(
    Object.fromEntries(set.map((name) => [name, JSON.stringify(given[name])])),
  );
  return 'settings' in read ? read.settings : expect.unreachable(JSON.stringify(read.mistakes));
}

/** Other tests check the decision itself with these cases. Here they run from the thrown error to the publication. */
describe.skipIf(cases.length === 0)('conformance, from a thrown error to the published message', () => {
  it.each(cases.map((one) => [one.name, one] as const))('%s', async (_name, given) => {
    const { type = 'Error', ...fields } = given.error;
    const { options, published } = aPipeline({
      settings: settingsOf(given),
      clock: { now: () => Date.parse(given.now) },
    });
    const message = aMessage({ eventTime: given.eventTime, retryCount: String(given.retryCount) });
    const thrown = Object.assign(new Error('x'), { name: type }, fields);
    expect(await handleFailure(thrown, message, options)).toMatchObject({ settle: 'ack', ...given.expect });
    const { action, escalate } = given.expect;
    const topic = action === 'retry' ? 'me-pubsub-delayer' : 'sending-mg-errors';
    expect(published.map((one) => one.topic)).toEqual(action === 'drop' && !escalate ? [] : [topic]);
  });
});
