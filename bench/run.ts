import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBatch } from './batch.ts';
import { benchCost } from './cost/cost.ts';
import { benchHops } from './hops.ts';
import { benchHungGateway } from './hung-gateway.ts';
import { benchImport } from './import-time.ts';
import { benchLambda } from './lambda/lambda.ts';
import { isMet, markdownOf, type Row, tableOf } from './report.ts';
import { benchHttp, benchSocket } from './runtime-calls.ts';
import { benchSlope } from './slope.ts';

/**
 * `npm run bench [-- [--json FILE | --markdown | --list] [NAME...]]`: compares with peers, alternating in one run, and prints
 * medians. `--list` prints the names.
 */

const BENCHES = {
  lambda: benchLambda,
  socket: benchSocket,
  http: benchHttp,
  batch: benchBatch,
  hops: benchHops,
  gateway: benchHungGateway,
  import: benchImport,
  slope: benchSlope,
  cost: benchCost,
} as const;

async function main(args: readonly string[]): Promise<void> {
  const { values: options, positionals: names } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'string' }, markdown: { type: 'boolean' }, list: { type: 'boolean' } },
  });
  const known = Object.keys(BENCHES);
  if (options.list === true) return console.log(known.join('\n'));
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no benchmark "${unknown}"; the benchmarks are ${known.join(', ')}`);
  const rows: Row[] = [];
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    process.stderr.write(`bench: ${name} ...\n`);
    rows.push(...(await bench()));
  }
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  if (options.json === undefined) console.log(options.markdown === true ? markdownOf(rows) : tableOf(rows));
  else
    writeFileSync(
      options.json,
      `${JSON.stringify({ machine, rows: rows.map((row) => ({ ...row, met: isMet(row) })) }, null, 2)}\n`,
    );
}

await main(process.argv.slice(2));
