import { defineCommand } from '../define-command.ts';
import { addFilterOptions } from '../options/filter-options.ts';

export const addPurge = defineCommand({
  name: 'purge',
  description: 'remove failures from the index permanently, after confirmation',
  declare: (command) =>
    addFilterOptions(command.argument('[ids...]', 'ids of envelopes, or unique prefixes of them'))
      .option('--all', 'all failures, also resolved ones')
      .option('--resolved', 'only resolved failures: a replay of the envelope succeeded')
      .option('--archive', 'also delete the archived envelopes; by default they stay in the archive')
      .option('--yes', 'do not ask for confirmation'),
  help: `Examples:
  asya purge --group 3fa9c1d2e4b5
  asya purge --resolved --since 30d
  asya purge --actor score --reason Timeout --yes

Exit status: 0 done; 1 a store failed, no failures match, or you did not confirm; 2 usage error.`,
  load: async () => (await import('./purge/run-purge.ts')).runPurge,
});
