#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `asya requires Node.js 24 or newer, but this is ${process.version}; run \`npx asya\`, which uses the Node.js 24 in node_modules\n`,
  );
  process.exit(1);
}
// Imported after the version check, because older versions do not have it.
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/asya-node', import.meta.url)));
// The reader of a pipe has exited, e.g. `| head`: exit like a program that SIGPIPE ends, without a stack trace.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit(141);
  if (error.code !== 'EIO') throw error;
});
// The terminal window is closed: output is lost, but the mesh still stops properly.
process.stderr.on('error', (error) => {
  if (error.code !== 'EIO') throw error;
});
// The published package contains the build; a checkout runs the source.
const source = new URL('../lib/cli/main.ts', import.meta.url);
const built = new URL('../dist/lib/cli/main.js', import.meta.url);
const { main } = await import((existsSync(source) ? source : built).href);
process.exit(await main(process.argv.slice(2)));
