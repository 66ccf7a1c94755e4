import { defineCommand } from '../define-command.ts';

export const addScale = defineCommand({
  name: 'scale',
  description: 'print where the first limits of a mesh are on AWS, what to set, and what a day costs',
  declare: (command) =>
    command
      .argument('[DIR]', "the mesh's folder", '.')
      .option(
        '--rate <N>',
        'envelopes per second at the busiest time of a normal day (default: 100, 1,000, 10,000 and 100,000)',
      )
      .option(
        '--take <ACTOR=DURATION>',
        "how long the actor's calls take (default: 100ms); a DURATION without ACTOR applies to all; repeatable",
        collect,
      )
      .option('--size <BYTES>', 'size of an envelope (default: 2048)')
      .option('--failed <PERCENT>', 'how many envelopes fail finally (default: 0.1)')
      .option(
        '--tracked <PERCENT>',
        'how many envelopes are tasks of the gateway (default: 100 with flows, else 0)',
      )
      .option('--callers <N>', 'callers of the gateway (default: 1)')
      .option('--crew-concurrency <N>', '`crewConcurrency` of the environment (default: 10)')
      .option('--outage <ACTOR>', 'the actor that fails from 14:00 to 15:00, or "stores" (default: none)')
      .option('--tuned', 'with --rate: the day with as many copies as advised')
      .option('--seed <N>', "selects the times of the day's bursts (default: 1)")
      .option('--json', 'print one JSON document'),
  help: `Examples:
  asya scale my-mesh
  asya scale my-mesh --rate 1000 --take 50ms --take score=2s
  asya scale my-mesh --rate 1000 --tuned --outage score

Nothing is deployed or measured: limits and costs are computed from the mesh, and the day is a model in virtual time.
See docs/scaling.md.
Exit status: 0 computed, also if limits are exceeded; 2 usage error or invalid mesh.`,
  load: async () => (await import('./scale/run-scale.ts')).runScale,
});

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
