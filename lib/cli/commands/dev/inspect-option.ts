import type { ActorSpec, Manifest } from '../../../config/manifest/manifest.ts';
import { defined } from '../../../core/text/defined.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import type { InspectedActor } from '../../../local/mesh/mesh-inspections.ts';
import { wholeNumberOption } from '../../options/read-option.ts';
import { UsageError } from '../../usage-error.ts';

const MAX_PORT = 65_535;

/** The values of `--inspect`: `score` or `score=9230`. Throws a usage error for a value that cannot be inspected. */
export function inspectedActors(
  values: readonly string[],
  { actors }: Manifest,
  transport: 'sqs' | 'pubsub',
): readonly InspectedActor[] {
  const ports = new Map<string, number | undefined>();
  for (const value of values) {
    const { name, port } = readValue(value);
    const spec = actors.find((actor) => actor.name === name);
    if (spec === undefined) throw new UsageError(unknownText(name, actors));
    const why = whyNot(spec, transport);
    if (why !== undefined)
      throw new UsageError(`asya: --inspect ${name}: the handler of "${name}" cannot be debugged: ${why}`);
    ports.set(name, port);
  }
  return [...ports].map(([actor, port]) => ({ actor, ...defined({ port }) }));
}

function readValue(value: string): { readonly name: string; readonly port: number | undefined } {
  const at = value.indexOf('=');
  if (at < 0) return { name: value, port: undefined };
  const name = value.slice(0, at);
  return { name, port: wholeNumberOption(`--inspect ${name}=PORT`, value.slice(at + 1), MAX_PORT) };
}

function unknownText(name: string, actors: readonly ActorSpec[]): string {
  const names = actors.map((actor) => actor.name);
  const hint = suggestion(name, names) || `; its actors are: ${names.join(', ')}`;
  return `asya: --inspect is "${name}", which is not an actor of this mesh${hint}`;
}

function whyNot({ runtime }: ActorSpec, transport: 'sqs' | 'pubsub'): string | undefined {
  if (runtime.kind === 'url')
    return `it runs at ${runtime.url}, not in a process of this mesh; attach a debugger to that process`;
  if (runtime.kind === 'image')
    return `it runs in the image "${runtime.image}", and a local mesh does not run images; run the image with a debugger yourself`;
  if (transport === 'pubsub')
    return 'with --transport pubsub, timeouts cannot be paused and the broker would deliver the message again; use --transport sqs, which runs the same handler';
  return undefined;
}
