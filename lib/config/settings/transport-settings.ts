import type { Mistake } from '../../core/text/mistake.ts';
import type { Group, ReadValues, Values } from './setting.ts';
import type { Environment } from './variables.ts';

/** What the rules of a transport depend on besides its own settings. */
export interface TransportContext {
  readonly env: Environment;
  /** Whether it is the transport of this configuration. Otherwise missing settings are not mistakes. */
  readonly isSelected: boolean;
  readonly actor: { readonly name: string; readonly timeoutMs: number };
  readonly namespace: string | undefined;
  readonly mistakes: Mistake[];
}

/** The settings of one transport, and the rules between them. */
export interface TransportSettings<G extends Group> {
  /** Heading in the docs. */
  readonly title: string;
  readonly settings: G;
  /** The variable that selects the transport if `ASYA_TRANSPORT` is not set. */
  readonly selectedBy: string;
  /** Adds the computed defaults, and reports mistakes. */
  complete(read: ReadValues<G>, context: TransportContext): Values<G>;
  /** The inverse: leaves out the values that are computed defaults. */
  withoutComputed?(values: Values<G>, actor: TransportContext['actor']): PartialValues<G>;
}

type PartialValues<G extends Group> = { readonly [K in keyof Values<G>]?: Values<G>[K] | undefined };

/** Only infers the type of the group. */
export function transportSettings<G extends Group>(transport: TransportSettings<G>): TransportSettings<G> {
  return transport;
}
