import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Bench, ContractSubject, Features } from './contract-subject.ts';
import { type Law, onStage } from './law.ts';
import { BODY_LAWS } from './laws/body-laws.ts';
import { DELIVERY_LAWS } from './laws/delivery-laws.ts';
import { ENDING_LAWS } from './laws/ending-laws.ts';
import { QUEUE_LAWS } from './laws/queue-laws.ts';

const LAWS: readonly Law[] = [...DELIVERY_LAWS, ...BODY_LAWS, ...QUEUE_LAWS, ...ENDING_LAWS];
const LAW_TIMEOUT_MS = 150_000;

type Verdict = 'holds' | 'BROKEN' | 'not run' | { readonly skippedBecause: string };

/** By subject, then by law: for the table. */
const verdicts = new Map<string, Map<string, Verdict>>();
let unfinished = 0;

/** Every transport behaves so. What a subject cannot do by its features is skipped, with the reason printed. */
export function transportContract(subject: ContractSubject): void {
  const { name, features, absence } = subject;
  const column = new Map(
    LAWS.map((law): [string, Verdict] => {
      const reason = absence ?? gapFor(law, features);
      return [law.name, reason === undefined ? 'not run' : { skippedBecause: reason }];
    }),
  );
  verdicts.set(name, column);
  unfinished++;

  describe(`the transport contract: ${name}`, () => {
    let bench: Bench | undefined;

    beforeAll(async () => {
      if (absence === undefined) bench = await subject.start();
    }, LAW_TIMEOUT_MS);

    afterAll(async () => {
      await bench?.close();
      printSkips(name, absence, column);
      unfinished--;
      if (unfinished === 0 && process.env['CONTRACT_TABLE']) console.log(tableText());
    }, LAW_TIMEOUT_MS);

    const register = (law: Law, isConcurrent: boolean) =>
      it(law.name, { concurrent: isConcurrent, timeout: LAW_TIMEOUT_MS }, async (test) => {
        const verdict = column.get(law.name);
        if (typeof verdict === 'object') return test.skip(verdict.skippedBecause);
        if (bench === undefined) throw new Error(`${name} did not start`);
        column.set(law.name, 'BROKEN');
        await onStage(bench, law);
        column.set(law.name, 'holds');
      });

    // Most of a law's time is waiting, and each has a queue of its own.
    describe('side by side', () => {
      for (const law of LAWS.filter(({ isAlone }) => !isAlone)) register(law, true);
    });
    describe('alone', () => {
      for (const law of LAWS.filter(({ isAlone }) => isAlone)) register(law, false);
    });
  });
}

/** Why the law does not apply; undefined where it does. */
function gapFor({ needs = [] }: Law, features: Features): string | undefined {
  for (const feature of needs) {
    const ability = features[feature];
    if (ability !== 'yes') return ability.no;
  }
  return undefined;
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

function tableText(): string {
  const subjects = [...verdicts.keys()];
  const reasons: string[] = [];
  const word = (verdict: Verdict | undefined): string => {
    if (typeof verdict !== 'object') return verdict ?? 'not run';
    if (!reasons.includes(verdict.skippedBecause)) reasons.push(verdict.skippedBecause);
    return `skip [${reasons.indexOf(verdict.skippedBecause) + 1}]`;
  };
  const rows = LAWS.map(({ name }) => [
    name,
    ...subjects.map((subject) => word(verdicts.get(subject)?.get(name))),
  ]);
  const head = ['law', ...subjects];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [
    lineOf(head),
    lineOf(widths.map((width) => '-'.repeat(width))),
    ...rows.map(lineOf),
    ...reasons.map((reason, index) => `[${index + 1}] ${reason}`),
  ].join('\n');
}
