import { ACTOR_NAME_RULE, isActorName } from '../../core/envelope/actor-name.ts';
import { DURATION_RULE, durationMs, durationText } from '../../core/text/duration.ts';
import { closestWord } from '../../core/text/nearest.ts';

/** How a variable's text becomes a value and back. */
export interface Kind<T> {
  /** In the docs: what may stand there. */
  readonly takes: string;
  /** The value, or what would be right instead. */
  read(text: string): Reading<T>;
  write(value: T): string;
  /** What stands there is shown nowhere. */
  readonly isSecret?: boolean;
}

type Reading<T> = { readonly value: T } | { readonly problem: string };

export interface Setting<T> extends Kind<T> {
  readonly about: string;
  /** The text that stands for an unset variable; undefined where there is none. */
  readonly fallback?: string;
  /** In the docs: the default in words, where no text says it. */
  readonly fallbackWords?: string;
  /** In the docs: what an empty value means. Without it, an empty variable is not set. */
  readonly emptyMeans?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: a table's settings have values of any type
export type SettingTable = Readonly<Record<string, Setting<any>>>;

export function setting<T>(kind: Kind<T>, about: string, fallback?: string): Setting<T> {
  return fallback === undefined ? { ...kind, about } : { ...kind, about, fallback };
}

/** No text stands for it where it is unset: the docs say in words what holds then. */
export function unset<T>(kind: Kind<T>, about: string, fallbackWords: string): Setting<T> {
  return { ...kind, about, fallbackWords };
}

/** The same setting, for which an empty variable is a value too. */
export function emptyMeans<T>(setting: Setting<T>, words: string): Setting<T> {
  return { ...setting, emptyMeans: words };
}

/** Any text. An item of a list must not be empty; an empty variable is not set. */
export const text: Kind<string> = {
  takes: 'text',
  read: (value) => (value === '' ? { problem: 'it must not be empty' } : { value }),
  write: (value) => value,
};

/** The same, and nobody is shown it. */
export const hiddenText: Kind<string> = { ...text, isSecret: true };

const MIN_SECRET = 32;

export const secret: Kind<string> = {
  takes: `text of ${MIN_SECRET} characters or more`,
  read: (value) =>
    value.length < MIN_SECRET
      ? { problem: `it takes ${MIN_SECRET} characters or more, such as \`openssl rand -hex 32\` makes` }
      : { value },
  write: (value) => value,
  isSecret: true,
};

export const actorName: Kind<string> = {
  takes: "an actor's name",
  read: (value) => (isActorName(value) ? { value } : { problem: ACTOR_NAME_RULE }),
  write: (value) => value,
};

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    takes: words.map((word) => `\`${word}\``).join(', '),
    read: (value) =>
      words.includes(value as T)
        ? { value: value as T }
        : { problem: `it takes one of ${words.join(', ')}; did you mean "${closestWord(value, words)}"?` },
    write: (value) => value,
  };
}

const TRUE_WORDS = ['true', 'yes', 'on', '1'];
const FALSE_WORDS = ['false', 'no', 'off', '0'];

export const flag: Kind<boolean> = {
  takes: '`true`, `false`',
  read: (value) => {
    const word = value.toLowerCase();
    if (TRUE_WORDS.includes(word)) return { value: true };
    return FALSE_WORDS.includes(word) ? { value: false } : { problem: 'it takes true or false' };
  },
  write: String,
};

export function wholeNumber(from: number, to = 1_000_000_000): Kind<number> {
  const range = `from ${from} to ${to}`;
  return {
    takes: `a whole number ${range}`,
    read: (value) => {
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
      return number >= from && number <= to
        ? { value: number }
        : { problem: `it takes a whole number ${range}` };
    },
    write: String,
  };
}

export const duration: Kind<number> = {
  takes: 'a duration like `1.5s`',
  read: (value) => {
    const milliseconds = durationMs(value);
    return milliseconds === undefined ? { problem: DURATION_RULE } : { value: milliseconds };
  },
  write: durationText,
};

export const positiveDuration: Kind<number> = {
  ...duration,
  takes: 'a duration above 0 like `1.5s`',
  read: (value) => {
    const reading = duration.read(value);
    return 'value' in reading && reading.value === 0 ? { problem: 'it takes a duration above 0' } : reading;
  },
};

const ESCAPES = 'in a password write "/" as %2F, "?" as %3F, "#" as %23, "@" as %40 and "%" as %25';

export function url(...schemes: readonly string[]): Kind<string> {
  const right = `it takes a URL like "${schemes[0]}://host:port"`;
  return {
    takes: `a URL (${schemes.map((scheme) => `\`${scheme}:\``).join(', ')})`,
    read: (value) => {
      if (!URL.canParse(value)) return { problem: value.includes('@') ? `${right}; ${ESCAPES}` : right };
      const { protocol, hostname } = new URL(value);
      return schemes.includes(protocol.slice(0, -1)) && hostname !== '' ? { value } : { problem: right };
    },
    write: (value) => value,
  };
}

/** Comma-separated items; an empty text is an empty list. */
export function listOf(item: Kind<string>): Kind<readonly string[]> {
  return {
    takes: `${item.takes}; several separated by commas`,
    read: (value) => {
      const names = value.split(',').map((name) => name.trim());
      const items = names.length === 1 && names[0] === '' ? [] : names;
      for (const name of items) {
        const reading = item.read(name);
        if ('problem' in reading)
          return { problem: `expected a comma-separated list; "${name}" is not valid: ${reading.problem}` };
      }
      return { value: items };
    },
    write: (items) => items.join(','),
  };
}

/** From the root of the file system: nobody knows from which folder a relative one would be read. */
export const absolutePath: Kind<string> = {
  takes: 'a path from `/`',
  read: (value) => (value.startsWith('/') ? { value } : { problem: 'it takes a path that begins with "/"' }),
  write: (value) => value,
};

const NAMESPACE = /^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$/;

/** A part of queues' names. */
export const namespace: Kind<string> = {
  takes: 'letters, digits, `-` and `_`',
  read: (value) =>
    NAMESPACE.test(value)
      ? { value }
      : { problem: 'it takes letters, digits, "-" and "_", for example "prod"' },
  write: (value) => value,
};
