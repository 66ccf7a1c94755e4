import { defineCommand } from '../define-command.ts';
import { addMeshOption } from '../options/filter-options.ts';

export const addSend = defineCommand({
  name: 'send',
  description: 'send an envelope; with --wait, print its final payload',
  declare: (command) =>
    addMeshOption(
      command
        .argument('<FLOW|ACTOR>', 'a flow, or a single actor')
        .option('--payload <payload>', 'JSON, the name of a JSON file, or - to read stdin', '{}')
        .option('--id <id>', "the envelope's id (default: a new one)")
        .option(
          '--wait',
          'wait until the envelope and its fan-out children end, and print their final payloads',
        )
        .option('--folder <DIR>', 'the folder with the flows of a mesh on AWS (default: the current folder)')
        .option('--timeout <duration>', 'how long --wait waits', '1m'),
    ),
  help: `Examples:
  asya send hello --payload '{"name":"you"}' --wait
  asya send greet --payload picture.json
  cat picture.json | asya send image-enhance --payload - --wait

With --wait, stdout gets one final payload per line: of the envelope, and of each child of a fan-out. Failures are
printed to stderr with their error.
For a mesh on AWS, flows are read from the mesh's folder: the current one, or --folder.
Exit status: 0 sent, and with --wait all succeeded; 1 not sent, or some failed or did not end in time; 2 usage error.`,
  load: async () => (await import('./send/run-send.ts')).runSend,
});
