import { defined } from '../../core/text/defined.ts';
import type { Kind } from './kinds.ts';

/**
 * When a configuration has the value: always, because a text is the default (`default`); always, because code beside
 * the table computes the default from other settings (`computed`); or only if the variable is set (`optional`).
 */
type Presence = 'default' | 'computed' | 'optional';

/** One row of the settings table. Its key in the group is the key of its value in the configuration. */
export interface Setting<T, P extends Presence = Presence> extends Kind<T> {
  readonly variable: string;
  readonly presence: P;
  /** For the docs: what the setting does. */
  readonly about: string;
  /** The text that applies if the variable is not set. */
  readonly defaultText?: string;
  /** For the docs: the default in words, if no text expresses it. */
  readonly defaultDescription?: string;
  /** For the docs: what an empty value means. Without it, an empty variable counts as not set. */
  readonly emptyMeans?: string;
}

interface Options {
  readonly about: string;
  readonly emptyMeans?: string;
}

/** A setting with a default that can be written as text. */
export function setting<T>(
  variable: string,
  kind: Kind<T>,
  { about, default: defaultText, emptyMeans }: Options & { readonly default: string },
): Setting<T, 'default'> {
  return { ...kind, variable, presence: 'default', about, defaultText, ...defined({ emptyMeans }) };
}

/** A setting that the configuration does not contain if the variable is not set. `unset` says what happens then. */
export function optional<T>(
  variable: string,
  kind: Kind<T>,
  { about, unset, emptyMeans }: Options & { readonly unset: string },
): Setting<T, 'optional'> {
  return {
    ...kind,
    variable,
    presence: 'optional',
    about,
    defaultDescription: unset,
    ...defined({ emptyMeans }),
  };
}

/** A setting whose default depends on other settings. `default` describes it. */
export function computed<T>(
  variable: string,
  kind: Kind<T>,
  { about, default: defaultDescription }: Options & { readonly default: string },
): Setting<T, 'computed'> {
  return { ...kind, variable, presence: 'computed', about, defaultDescription };
}

// biome-ignore lint/suspicious/noExplicitAny: the settings of a group have values of different types
export type Group = Readonly<Record<string, Setting<any>>>;

/** The keys of a configuration whose values may be absent. */
type OptionalKey<G extends Group, Absent extends Presence> = {
  [K in keyof G]: G[K] extends Setting<infer T, infer P>
    ? P extends Absent
      ? K
      : undefined extends T
        ? K
        : never
    : never;
}[keyof G];

type ValueOf<S> = S extends Setting<infer T> ? Exclude<T, undefined> : never;

type Section<G extends Group, Absent extends Presence> = {
  readonly [K in Exclude<keyof G, OptionalKey<G, Absent>>]: ValueOf<G[K]>;
} & {
  readonly [K in OptionalKey<G, Absent>]?: ValueOf<G[K]>;
};

type Flat<T> = { [K in keyof T]: T[K] };

/** The part of a configuration that a group describes. */
export type Values<G extends Group> = Flat<Section<G, 'optional'>>;

/** The same as read from variables: computed defaults are still missing. */
export type ReadValues<G extends Group> = Flat<Section<G, 'optional' | 'computed'>>;
