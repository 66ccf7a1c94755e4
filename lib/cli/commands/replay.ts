import { defineCommand } from '../define-command.ts';
import { addFilterOptions } from '../options/filter-options.ts';

export const addReplay = defineCommand({
  name: 'replay',
  description: 'send failed envelopes again, as a first attempt with their original payload',
  declare: (command) =>
    addFilterOptions(command.argument('[ids...]', 'ids of envelopes, or unique prefixes of them'))
      .option('--all', 'all failures that are not resolved')
      .option('--go', 'send; without it, only print what would be sent')
      .option('--dry-run', 'print what would be sent (the default without --go)')
      .option('--to <actor>', 'send to this actor instead of the one where each envelope failed')
      .option('--patch <patch>', 'change the payload with a JSON Patch: a file, or the patch itself')
      .option(
        '--timeout <duration>',
        "set a new deadline, counted from now (default: the flow's timeout, if it is known)",
      )
      .option('--rate <number>', 'maximum number of sends per second', '50')
      .option('--no-ramp', 'send without stages: do not wait for the first envelopes to succeed')
      .option('--wait <duration>', 'how long to wait for the envelopes of a stage to end', '10m')
      .option('--again', 'include failures that were replayed before')
      .option('--payload', 'print payloads in a dry run')
      .option('--json', 'print JSON'),
  help: `Examples:
  asya replay 7f0c2b                              print what would be sent, and where
  asya replay 7f0c2b --go
  asya replay --group 3fa9c1d2e4b5 --go           one, then ten, then the rest; stops if one fails again
  asya replay --group 3fa9c1d2e4b5 --patch '[{"op":"replace","path":"/n","value":1}]' --go
  asya replay --actor score --since 1h --to score-v2 --rate 5 --go

The failures are selected once, at the start: later failures are not included. A replayed failure stays in the index and
lists its replays. A filter never selects resolved failures; an id with --again does. If an actor's queue is missing or the broker refuses a send to it, that actor's failures are reported
and not sent; the others are sent. Use --to to send them to another actor.
Exit status: 0 all sent (and, with the ramp, all succeeded); 1 a broker or store failed, no failures match, or some could
not be sent (in a dry run: a queue is missing or cannot be looked up); 2 usage error; 3 stopped because some failed again
or did not end in time; 130 stopped with Ctrl-C.`,
  load: async () => (await import('./replay/run-replay.ts')).runReplay,
});
