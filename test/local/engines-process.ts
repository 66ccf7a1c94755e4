import { startEngines } from '../../lib/local/engines/engines.ts';

/** Runs the engines on a folder until it is killed. */
const [dataDir = ''] = process.argv.slice(2);
const start = await startEngines({ dataDir });
console.log(JSON.stringify({ message: 'started', ...('engines' in start ? start.engines : start) }));
