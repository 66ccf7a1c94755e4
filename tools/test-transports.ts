import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLUMNS_FOLDER, isFulfilled, readColumns, tableText } from './contract-table.ts';

/**
 * `npm run test:transports`: tests the transport contract with every subject and prints a table of the results. Words
 * after `--` select test files, as with vitest. If CONTRACT_COLUMNS is set, test files that already have results in that
 * folder are not run again.
 */
const ROOT = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const given = process.env[COLUMNS_FOLDER];
const folder = given ?? mkdtempSync(join(tmpdir(), 'asya-contract-'));
mkdirSync(folder, { recursive: true });

const known = new Set(readColumns(folder).map(({ testFile }) => testFile));
const files = globSync('test/contract/**/*.test.ts', { cwd: ROOT }).filter((file) => !known.has(file));
const chosen = args.length === 0 ? files : args;
const { status } =
  chosen.length === 0
    ? { status: 0 }
    : spawnSync('npx', ['vitest', 'run', ...chosen], {
        cwd: ROOT,
        stdio: 'inherit',
        env: { ...process.env, TRANSPORTS: '1', [COLUMNS_FOLDER]: folder },
      });
const columns = readColumns(folder);
if (given === undefined) rmSync(folder, { recursive: true });

console.log(`\n${tableText(columns)}`);
const isPassed = status === 0 && isFulfilled(columns);
console.log(
  `\ntransports: ${isPassed ? 'every law holds, or is skipped for the reason given' : 'some laws are BROKEN or did not run'}`,
);
process.exitCode = isPassed ? 0 : 1;
