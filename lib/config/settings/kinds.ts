import { ACTOR_NAME_RULE, isActorName } from '../../core/envelope/actor-name.ts';
import { DURATION_RULE, durationMs, durationText } from '../../core/text/duration.ts';
import { suggestion } from '../../core/text/nearest.ts';

/** How the text of a variable becomes a value, and back. */
export interface Kind<T> {
  /** For the docs: which values are valid. */
  readonly takes: string;
  /** The value, or a sentence on what would be valid. */
  read(text: string): KindReading<T>;
  write(value: T): string;
  /** The value never appears in a message, and handlers do not receive the variable. */
  readonly isSecret?: boolean;
  /** The value may contain a password. Messages hide that part, and handlers do not receive the variable. */
  readonly hasPassword?: boolean;
}

type KindReading<T> = { readonly value: T } | { readonly problem: string };

/** Any text. An empty variable counts as not set, but an item of a list must not be empty. */
export const text: Kind<string> = {
  takes: 'text',
  read: (value) => (value === '' ? { problem: 'it must not be empty' } : { value }),
  write: (value) => value,
};

/** Any text, but messages never show it. */
export const hiddenText: Kind<string> = { ...text, isSecret: true };

const MIN_SECRET = 32;

export const secret: Kind<string> = {
  takes: `text of ${MIN_SECRET} characters or more`,
  read: (value) =>
    value.length < MIN_SECRET
      ? { problem: `expected ${MIN_SECRET} characters or more, for example from \`openssl rand -hex 32\`` }
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
        : { problem: `expected one of ${words.join(', ')}${suggestion(value, words)}` },
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
    return FALSE_WORDS.includes(word) ? { value: false } : { problem: 'expected true or false' };
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
        : { problem: `expected a whole number ${range}` };
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
    return 'value' in reading && reading.value === 0 ? { problem: 'expected a duration above 0' } : reading;
  },
};

const ESCAPES = 'in a password write "/" as %2F, "?" as %3F, "#" as %23, "@" as %40 and "%" as %25';

export function url(...schemes: readonly string[]): Kind<string> {
  const right = `expected a URL like "${schemes[0]}://host:port"`;
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

/** A URL such as `amqp://user:password@host`. */
export function urlWithPassword(...schemes: readonly string[]): Kind<string> {
  return { ...url(...schemes), hasPassword: true };
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

export const accountId: Kind<string> = {
  takes: '12 digits',
  read: (value) =>
    /^\d{12}$/.test(value) ? { value } : { problem: 'expected the 12 digits of an AWS account' },
  write: (value) => value,
};

/** A relative path would depend on the working directory of the process. */
export const absolutePath: Kind<string> = {
  takes: 'an absolute path',
  read: (value) =>
    value.startsWith('/') ? { value } : { problem: 'expected an absolute path, which starts with "/"' },
  write: (value) => value,
};

const NAMESPACE = /^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$/;

/** Part of the names of queues. */
export const namespace: Kind<string> = {
  takes: 'letters, digits, `-` and `_`',
  read: (value) =>
    NAMESPACE.test(value)
      ? { value }
      : {
          problem:
            'expected letters, digits, "-" and "_", starting and ending with a letter or digit, such as "prod"',
        },
  write: (value) => value,
};
