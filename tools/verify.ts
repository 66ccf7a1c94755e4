import { spawnSync } from 'node:child_process';

/** `npm run verify`: what CI runs. Stops at the first step that fails, and prints which one. */
const STEPS = [
  ['format and lint', 'npm run --silent lint'],
  ['rooms', 'npm run --silent rooms'],
  ['unused code', 'npm run --silent unused'],
  ['types', 'npm run --silent types'],
  ['tests', 'npm test --silent'],
  ['synth', 'npx cdk synth --quiet -c env=dev'],
] as const;

for (const [name, command] of STEPS) {
  console.log(`\n== ${name}`);
  const started = performance.now();
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`\nverify: ${name} failed (${command})`);
    process.exit(1);
  }
  console.log(`== ${name}: ok, ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
console.log('\nverify: all steps passed');
