import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { benchBatch } from './batch.ts';
import { benchHops } from './hops.ts';
import { benchHungGateway } from './hung-gateway.ts';
import { benchImport } from './import-time.ts';
import { benchLambda } from './lambda/lambda.ts';
import { isMet, type Row, tableOf } from './report.ts';
import { benchHttp, benchSocket } from './runtime-calls.ts';
import { benchSlope } from './slope.ts';

/** `npm run bench [-- --json FILE] [NAME...]`: compares with peers, alternating in one process, and prints medians. */

const BENCHES = {
  lambda: benchLambda,
  socket: benchSocket,
  http: benchHttp,
  batch: benchBatch,
  hops: benchHops,
  gateway: benchHungGateway,
  import: benchImport,
  slope: benchSlope,
} as const;

async function main(args: readonly string[]): Promise<void> {
  const jsonAt = args.indexOf('--json');
  const file = jsonAt < 0 ? undefined : args[jsonAt + 1];
  const names = args.filter((arg, index) => !arg.startsWith('--') && (jsonAt < 0 || index !== jsonAt + 1));
  const rows: Row[] = [];
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (names.length > 0 && !names.includes(name)) continue;
    process.stderr.write(`bench: ${name} ...\n`);
    rows.push(...(await bench()));
  }
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  if (file === undefined) console.log(tableOf(rows));
  else
    writeFileSync(
      file,
      `${JSON.stringify({ machine, rows: rows.map((row) => ({ ...row, met: isMet(row) })) }, null, 2)}\n`,
    );
}

await main(process.argv.slice(2));
