import { startEngines } from '../../lib/local/engines.ts';

/** Holds the engines on a folder until it is killed; SQS on the port, where one is given. */
const [dataDir = '', sqsPort = '0'] = process.argv.slice(2);
const start = await startEngines({ dataDir, sqsPort: Number(sqsPort) });
console.log(JSON.stringify({ message: 'started', ...('engines' in start ? start.engines : start) }));
