import { defineCommand } from '../define-command.ts';

export const addSidecar = defineCommand({
  name: 'sidecar',
  description: "process an actor's queue until stopped; configured by ASYA_* environment variables only",
  help: `Example:
  ASYA_ACTOR_NAME=score \\
  ASYA_SQS_ENDPOINT=http://127.0.0.1:4566 \\
  ASYA_RUNTIME_COMMAND='python3 runtimes/python/asya_runtime.py my_module.my_func' \\
  asya sidecar

With ASYA_ACTOR_NAME=x-sink, x-sump or x-dlq it runs the built-in crew actor, which needs ASYA_ARCHIVE_BUCKET and
ASYA_FAILURE_TABLE instead of a runtime. docs/configuration.md lists every variable.
Exit status: 0 stopped, 1 failed, 2 invalid configuration.`,
  load: async () => (await import('./sidecar/run-sidecar.ts')).runSidecar,
});
