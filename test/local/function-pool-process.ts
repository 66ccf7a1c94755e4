import { functionPool } from '../../lib/local/functions/function-pool.ts';

/** Runs two instances of a function, one of them busy, until it is killed. */
const [file = '', variables = '{}'] = process.argv.slice(2);
const pool = functionPool({
  name: 'started',
  file,
  memoryMb: 128,
  maxInstances: 2,
  timeoutMs: 600_000,
  variables: (instance) => JSON.parse(variables.replaceAll('#', String(instance))),
  onLine: (_name, _stream, line) => console.error(line),
  onWarning: (text) => console.error(text),
});
void pool.invoke({ act: 'spin' });
console.log(JSON.stringify({ message: 'pool started', problem: await pool.start(), pids: pool.pids() }));
