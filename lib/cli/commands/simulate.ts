import type { Command } from 'commander';
import type { Terminal } from '../output/terminal.ts';
import type { SimulateOptions } from './simulate/simulate-scenario.ts';

export function addSimulate(program: Command, terminal: Terminal): void {
  program
    .command('simulate')
    .description('tells what would become of an envelope, when and why, without waiting for it')
    .argument('<DIR>', "the mesh's folder")
    .argument('<FLOW>', 'a flow of the mesh, or one of its actors')
    .option(
      '--fail <ACTOR:ERROR*N>',
      'whose calls fail, how, and how many of them; may be said again',
      gather,
    )
    .option('--take <ACTOR=DURATION>', 'how long its calls take (1s); DURATION alone for all', gather)
    .option('--at <TIME>', 'when it begins, such as 2026-01-01T00:00:00Z (now)')
    .option('--seed <N>', 'rolls dice for the jitter, the same ones for the same number (jitter at its half)')
    .option('--header <NAME=VALUE>', 'a header, such as event_time or _on_error; may be said again', gather)
    .option('--payload <JSON|FILE>', 'the payload that travels ({})')
    .option('--json', 'one JSON document instead of words, for scripts')
    .addHelpText(
      'after',
      `
Examples:
  asya simulate my-mesh score-text --fail 'score:ValueError*3'
  asya simulate my-mesh score-text --fail 'score:http:429@7*2' --fail 'store:timeout*1' --take score=20s
  asya simulate my-mesh score --fail 'score:KeyError<LookupError'

ERROR is a type (ValueError, pkg.Type, with its ancestors behind "<" where they are not known), http:503, http:429@7
(asks for a pause of 7 s), timeout (hangs) or crash (the connection is lost). Without *N every call fails.
docs/simulate.md tells more. Exit status: 0 simulated, whatever became of the envelope, 2 a mistake in the call or the mesh.`,
    )
    .action(async (folder: string, flow: string, options: SimulateOptions & { readonly json?: boolean }) => {
      const { runSimulate } = await import('./simulate/run-simulate.ts');
      await runSimulate(folder, flow, options, terminal);
    });
}

function gather(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
