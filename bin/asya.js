#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `asya needs Node 24 or newer, and this is ${process.version}. npx asya brings its own.\n`,
  );
  process.exit(1);
}
// An older Node does not have it, and is told so above.
const { enableCompileCache } = await import('node:module');
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/asya-node', import.meta.url)));
// Nobody reads on, as with `| head`: the end of a program by SIGPIPE, without a stack trace.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') process.exit(141);
  if (error.code !== 'EIO') throw error;
});
// The window is closed: what is told goes nowhere, and what is being stopped is stopped all the same.
process.stderr.on('error', (error) => {
  if (error.code !== 'EIO') throw error;
});
// A package holds what was built; here the source itself is run.
const source = new URL('../lib/cli/main.ts', import.meta.url);
const built = new URL('../dist/lib/cli/main.js', import.meta.url);
const { main } = await import((existsSync(source) ? source : built).href);
process.exit(await main(process.argv.slice(2)));
