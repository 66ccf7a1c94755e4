import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COLUMNS_FOLDER, isKept, readColumns, tableText } from './contract-table.ts';

/**
 * `npm run test:transports`: runs the transport contract on every transport and prints the results as a table.
 * Arguments after `--` select test files, as with vitest. If the environment names a folder with results of the same CI
 * run, tests that already have a result there are not run again.
 */
const ROOT = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const given = process.env[COLUMNS_FOLDER];
const folder = given ?? mkdtempSync(join(tmpdir(), 'asya-contract-'));
mkdirSync(folder, { recursive: true });

const known = new Set(readColumns(folder).map(({ testFile }) => testFile));
const files = globSync('test/contract/**/*.test.ts', { cwd: ROOT }).filter((file) => !known.has(file));
const chosen = words.length === 0 ? files : words;
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
const isGood = status === 0 && isKept(columns);
console.log(
  `\ntransports: ${isGood ? 'every law holds, or is skipped for the reason given' : 'some laws are broken, see above'}`,
);
process.exitCode = isGood ? 0 : 1;
