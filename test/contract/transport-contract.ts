import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COLUMNS_FOLDER, type Verdict, writeColumn } from '../../tools/contract-table.ts';
import type { ContractSubject, Features, TestBroker } from './contract-subject.ts';
import { type Law, runLaw } from './law.ts';
import { BODY_LAWS } from './laws/body-laws.ts';
import { DELAY_LAWS } from './laws/delay-laws.ts';
import { DELIVERY_LAWS } from './laws/delivery-laws.ts';
import { ENDING_LAWS } from './laws/ending-laws.ts';
import { OUTAGE_LAWS } from './laws/outage-laws.ts';
import { QUEUE_LAWS } from './laws/queue-laws.ts';
import { TRAIT_LAWS } from './laws/trait-laws.ts';

const LAWS: readonly Law[] = [
  ...TRAIT_LAWS,
  ...DELIVERY_LAWS,
  ...DELAY_LAWS,
  ...BODY_LAWS,
  ...QUEUE_LAWS,
  ...OUTAGE_LAWS,
  ...ENDING_LAWS,
];
const LAW_TIMEOUT_MS = 150_000;

/** Registers the laws as tests. Laws that need a feature which the subject lacks are skipped, and the reason is printed. */
export function transportContract(subject: ContractSubject): void {
  const { name, features, unavailable } = subject;
  const column = new Map(
    LAWS.map((law): [string, Verdict] => {
      const reason = unavailable ?? reasonToSkip(law, features);
      return [law.name, reason === undefined ? 'not run' : { skippedBecause: reason }];
    }),
  );

  describe(`the transport contract: ${name}`, () => {
    let broker: TestBroker | undefined;

    beforeAll(async () => {
      if (unavailable === undefined) broker = await subject.start();
    }, LAW_TIMEOUT_MS);

    afterAll(async () => {
      await broker?.close();
      const folder = process.env[COLUMNS_FOLDER];
      if (folder === undefined) printSkips(name, unavailable, column);
      else writeColumn(folder, { subject: name, testFile: testFile(), laws: [...column] });
    }, LAW_TIMEOUT_MS);

    const register = (law: Law, isConcurrent: boolean) =>
      it(law.name, { concurrent: isConcurrent, timeout: LAW_TIMEOUT_MS }, async (test) => {
        const verdict = column.get(law.name);
        if (typeof verdict === 'object') return test.skip(verdict.skippedBecause);
        if (broker === undefined) throw new Error(`${name} did not start`);
        column.set(law.name, 'BROKEN');
        await runLaw(broker, features, law);
        column.set(law.name, 'holds');
      });

    // Laws mostly wait, and each has its own queue.
    describe('concurrent', () => {
      for (const law of LAWS.filter(({ isExclusive }) => !isExclusive)) register(law, true);
    });
    describe('exclusive', () => {
      for (const law of LAWS.filter(({ isExclusive }) => isExclusive)) register(law, false);
    });
  });
}

/** Why the law does not apply; undefined if it does. */
function reasonToSkip({ needs = [], lacks }: Law, features: Features): string | undefined {
  if (lacks !== undefined && features[lacks] === 'yes')
    return `this law is only for transports without "${lacks}"`;
  for (const feature of needs) {
    const ability = features[feature];
    if (ability !== 'yes') return ability.no;
  }
  return undefined;
}

function testFile(): string {
  return relative(join(import.meta.dirname, '../..'), expect.getState().testPath ?? '');
}

function printSkips(
  subject: string,
  unavailable: string | undefined,
  column: ReadonlyMap<string, Verdict>,
): void {
  if (unavailable !== undefined) {
    console.log(`contract, ${subject}: skipped, because ${unavailable}`);
    return;
  }
  for (const [law, verdict] of column) {
    if (typeof verdict === 'object')
      console.log(`contract, ${subject}: "${law}" skipped, because ${verdict.skippedBecause}`);
  }
}
