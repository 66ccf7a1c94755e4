import { defineCommand } from '../define-command.ts';

export const addSimulate = defineCommand({
  name: 'simulate',
  description: 'print the timeline of an envelope: what would happen, when, and why',
  declare: (command) =>
    command
      .argument('<DIR>', "the mesh's folder")
      .argument('<FLOW>', 'a flow of the mesh, or one of its actors')
      .option('--fail <ACTOR:ERROR*N>', "fail the actor's first N calls with this error; repeatable", collect)
      .option(
        '--take <ACTOR=DURATION>',
        "how long the actor's calls take (default: 1s); a DURATION without ACTOR applies to all; repeatable",
        collect,
      )
      .option('--at <TIME>', 'start time, e.g. 2026-01-01T00:00:00Z (default: now)')
      .option('--seed <N>', 'draw jitter at random from this seed (default: half of the maximum jitter)')
      .option('--header <NAME=VALUE>', 'a header such as event_time or _on_error; repeatable', collect)
      .option('--payload <JSON|FILE>', 'the payload (default: {})')
      .option('--json', 'print one JSON document'),
  help: `Examples:
  asya simulate my-mesh score-text --fail 'score:ValueError*3'
  asya simulate my-mesh score-text --fail 'score:http:429@7*2' --fail 'store:timeout*1' --take score=20s
  asya simulate my-mesh score --fail 'score:KeyError<LookupError'

ERROR is one of: an error type (ValueError, pkg.Type; add "<" and its ancestors if they are not built in), http:503,
http:429@7 (with a retry_after of 7 s), timeout (the call hangs), crash (the connection is lost). Without *N every call
fails. See docs/simulate.md.
Exit status: 0 simulated, also if the envelope fails; 2 usage error or invalid mesh.`,
  load: async () => (await import('./simulate/run-simulate.ts')).runSimulate,
});

function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
