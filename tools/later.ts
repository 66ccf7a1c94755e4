/** Commands that are promised and not there yet say so, and fail. */
const LATER: Readonly<Record<string, string>> = {
  bench: 'the benchmarks come with the sidecar',
  start: 'the local mesh comes with lib/local',
  demo: 'the scripted tour comes with lib/local',
};

const command = process.argv[2] ?? '';
console.error(`npm run ${command}: not there yet; ${LATER[command] ?? 'no such command'}.`);
process.exitCode = 1;
