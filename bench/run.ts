import { existsSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { suggestion } from '../lib/core/text/nearest.ts';
import { benchBatch } from './batch.ts';
import { benchCost } from './cost/cost.ts';
import { benchHops } from './hops.ts';
import { benchHungGateway } from './hung-gateway.ts';
import { benchImport } from './import-time.ts';
import { benchLambda } from './lambda/lambda.ts';
import { isMet, markdownOf, type Row, tableOf } from './report.ts';
import { benchHttp, benchSocket } from './runtime-calls.ts';
import { benchSlope } from './slope.ts';

const DESCRIPTIONS = {
  lambda: 'deployed functions next to handlers written by hand: cold, warm, memory',
  socket: 'a delivery over a socket, next to a bare echo of frames',
  http: 'a delivery over HTTP, next to bare undici',
  batch: "a batch of ten, next to Powertools' batch processor",
  hops: 'hops per second of a worker, next to sqs-consumer',
  gateway: 'hops with a gateway that answers or hangs',
  import: "size and import time of the sidecar's bundle",
  slope: 'how the cost of a delivery grows with its payload',
  cost: 'requests to AWS per envelope, and their price',
} as const;

type Name = keyof typeof DESCRIPTIONS;

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
} as const satisfies Readonly<Record<Name, () => Promise<readonly Row[]>>>;

const NAMES = Object.keys(DESCRIPTIONS) as Name[];

const HELP = `Usage: npm run bench [-- [options] [NAME...]]

Compares with peers, alternating in one run, and prints medians. Without names, runs all benchmarks:
${NAMES.map((name) => `  ${name.padEnd(8)}  ${DESCRIPTIONS[name]}`).join('\n')}

Options:
  --json FILE  writes the results to a file instead of printing them
  --markdown   prints the results as a table in Markdown
  --list       prints the names
  --help       prints this text`;

interface Options {
  readonly names: readonly Name[];
  readonly json?: string;
  readonly markdown?: boolean;
  readonly list?: boolean;
  readonly help?: boolean;
}

/** The options, or what is wrong with them. */
function readOptions(args: readonly string[]): Options | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'string' },
        markdown: { type: 'boolean' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const unknown = positionals.find((name) => !NAMES.includes(name as Name));
    if (unknown !== undefined)
      return `there is no benchmark "${unknown}"${suggestion(unknown, NAMES) || `; the benchmarks are ${NAMES.join(', ')}`}`;
    const { json } = values;
    if (json !== undefined && !existsSync(dirname(resolve(json))))
      return `--json is "${json}"; the folder ${dirname(resolve(json))} does not exist`;
    return { ...values, names: positionals as Name[] };
  } catch (error) {
    // parseArgs throws an error with a message for the user.
    return (error as Error).message;
  }
}

async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`bench: ${options}\nFor help: npm run bench -- --help`);
    process.exitCode = 2;
    return;
  }
  if (options.help === true) return console.log(HELP);
  if (options.list === true) return console.log(NAMES.join('\n'));
  const rows: Row[] = [];
  for (const name of NAMES) {
    if (options.names.length > 0 && !options.names.includes(name)) continue;
    process.stderr.write(`bench: ${name} ...\n`);
    rows.push(...(await BENCHES[name]()));
  }
  if (options.json === undefined)
    return console.log(options.markdown === true ? markdownOf(rows) : tableOf(rows));
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  const results = { machine, rows: rows.map((row) => ({ ...row, met: isMet(row) })) };
  writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
}

await main(process.argv.slice(2));
