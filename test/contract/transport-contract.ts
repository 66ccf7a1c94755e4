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

/** Every transport behaves so. What a subject cannot do by its features is skipped, with the reason printed. */
export function transportContract(subject: ContractSubject): void {
  const { name, features, unavailable: absence } = subject;
  const column = new Map(
    LAWS.map((law): [string, Verdict] => {
      const reason = absence ?? gapFor(law, features);
      return [law.name, reason === undefined ? 'not run' : { skippedBecause: reason }];
    }),
  );

  describe(`the transport contract: ${name}`, () => {
    let bench: TestBroker | undefined;

    beforeAll(async () => {
      if (absence === undefined) bench = await subject.start();
    }, LAW_TIMEOUT_MS);

    afterAll(async () => {
      await bench?.close();
      const folder = process.env[COLUMNS_FOLDER];
      if (folder === undefined) printSkips(name, absence, column);
      else writeColumn(folder, { subject: name, testFile: testFile(), laws: [...column] });
    }, LAW_TIMEOUT_MS);

    const register = (law: Law, isConcurrent: boolean) =>
      it(law.name, { concurrent: isConcurrent, timeout: LAW_TIMEOUT_MS }, async (test) => {
        const verdict = column.get(law.name);
        if (typeof verdict === 'object') return test.skip(verdict.skippedBecause);
        if (bench === undefined) throw new Error(`${name} did not start`);
        column.set(law.name, 'BROKEN');
        await runLaw(bench, features, law);
        column.set(law.name, 'holds');
      });

    // Most of a law's time is waiting, and each has a queue of its own.
    describe('side by side', () => {
      for (const law of LAWS.filter(({ isExclusive: isAlone }) => !isAlone)) register(law, true);
    });
    describe('alone', () => {
      for (const law of LAWS.filter(({ isExclusive: isAlone }) => isAlone)) register(law, false);
    });
  });
}

/** Why the law does not apply; undefined where it does. */
function gapFor({ needs = [], lacks }: Law, features: Features): string | undefined {
  if (lacks !== undefined && features[lacks] === 'yes') return `this one is for those without "${lacks}"`;
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
  absence: string | undefined,
  column: ReadonlyMap<string, Verdict>,
): void {
  if (absence !== undefined) {
    console.log(`contract, ${subject}: left out, because ${absence}`);
    return;
  }
  for (const [law, verdict] of column) {
    if (typeof verdict === 'object')
      console.log(`contract, ${subject}: "${law}" skipped, because ${verdict.skippedBecause}`);
  }
}
