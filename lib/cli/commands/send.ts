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
        .option('--wait', 'wait until the envelope ends, then print its final payload')
        .option('--timeout <duration>', 'how long --wait waits', '1m'),
    ),
  help: `Examples:
  asya send hello --payload '{"name":"you"}' --wait
  asya send greet --payload picture.json
  cat picture.json | asya send image-enhance --payload - --wait

Exit status: 0 sent, and with --wait succeeded; 1 not sent, failed, or not ended in time; 2 usage error.`,
  load: async () => (await import('./send/run-send.ts')).runSend,
});
