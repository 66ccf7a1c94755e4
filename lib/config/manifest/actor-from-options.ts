import type { Mistake } from '../../core/text/mistake.ts';
import { mistakeCollector } from '../../core/text/mistake.ts';
import { ACTOR_KIND, type HandlerCheck, readActor } from './actor-document.ts';
import type { ActorSpec } from './manifest.ts';

/**
 * An actor that is declared in code, checked by the same rules as a document: `spec` and `labels` have the same fields.
 * References to other actors are not checked, because those may be declared later.
 */
export function actorFromOptions(
  name: string,
  spec: Readonly<Record<string, unknown>>,
  checkHandler: HandlerCheck = () => undefined,
  labels: Readonly<Record<string, string>> = {},
): { readonly actor: ActorSpec } | { readonly mistakes: readonly [Mistake, ...Mistake[]] } {
  const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
  const value = { apiVersion: 'asya.sh/v1alpha1', kind: ACTOR_KIND, metadata: { name, labels }, spec: given };
  const mistakes: Mistake[] = [];
  const document = {
    file: '.',
    value,
    isBroken: false,
    mistakes: [],
    positionOf: () => ({ line: 1, column: 1 }),
    writtenAt: () => undefined,
  };
  const { actor } = readActor(value, document, mistakeCollector(mistakes, `actor "${name}"`), checkHandler);
  const [first, ...others] = mistakes;
  return first === undefined ? { actor } : { mistakes: [first, ...others] };
}
