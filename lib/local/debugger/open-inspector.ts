import { renameSync, writeFileSync } from 'node:fs';
import inspector from 'node:inspector';

/** Preloaded into a handler's process: opens the inspector on a free port and writes the port into a file. */
const portFile = new URL(import.meta.url).searchParams.get('port-file') ?? '';
inspector.open(0, '127.0.0.1');
writeFileSync(`${portFile}.new`, new URL(inspector.url() ?? '').port);
renameSync(`${portFile}.new`, portFile);
// Node would wait at its exit until the debugger has left.
process.once('exit', () => inspector.close());
