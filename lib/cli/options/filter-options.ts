import type { Command } from 'commander';

/** Options that select failures, as typed. */
export interface FilterOptions {
  readonly group?: string;
  readonly actor?: string;
  readonly reason?: string;
  readonly flow?: string;
  readonly since?: string;
  readonly resolved?: boolean;
  readonly mesh?: string;
}

export function addFilterOptions(command: Command): Command {
  return addMeshOption(
    command
      .option('--group <group>', 'failures with this cause: the first column of `asya failures`')
      .option('--actor <actor>', 'failures at this actor')
      .option('--reason <reason>', 'failures with this reason, e.g. PolicyExhausted or DeliveryExhausted')
      .option('--flow <flow>', 'failures of this flow')
      .option(
        '--since <duration>',
        'failures within this period, e.g. 30m, 1h, 7d, or since a time, e.g. 2026-01-01T00:00:00Z',
      ),
  );
}

/** Options of the commands that list failures. */
export function addStateOptions(command: Command): Command {
  return command
    .option('--all', 'all failures; without it, only open ones')
    .option('--resolved', 'only resolved failures: a replay of the envelope succeeded');
}

export function addMeshOption(command: Command): Command {
  return command.option('--mesh <name>', 'the mesh to use if several run on this machine');
}
