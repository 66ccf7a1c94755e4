import { describeValue } from '../core/text/describe-value.ts';
import { fieldOf, prototypesOf, textOf } from './guarded-read.ts';

/** The type names and the message of a thrown value. */

export interface Names {
  readonly type: string;
  readonly mro: readonly string[];
}

/** Type and inheritance chain, named as the Node runtime does, so that rules match the same errors in both. */
export function namesOf(thrown: unknown): Names {
  const classes = prototypesOf(thrown)
    .map((prototype) => textOf(prototype, 'constructor', 'name') ?? 'Object')
    .filter((name, at, all) => name !== 'Object' && all.indexOf(name) === at);
  // A name that differs from every class is more specific: a TimeoutError is a DOMException.
  const name = textOf(thrown, 'name');
  const isSpecific = name !== undefined && typeof thrown === 'object' && !classes.includes(name);
  const [type = 'ThrownValue', ...ancestors] = isSpecific ? [name, ...classes] : classes;
  const withError = type === 'Error' || ancestors.includes('Error') ? ancestors : [...ancestors, 'Error'];
  return { type, mro: [...withError, 'Exception'] };
}

const MAX_PARTS = 5;

export function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'string' ? thrown : textOf(thrown, 'message');
  if (message !== undefined && message !== '') return message;
  // An AggregateError, such as a connection refused at several addresses, has an empty message.
  const parts = partsOf(thrown).map((part) => textOf(part, 'message') ?? namesOf(part).type);
  if (parts.length > 0) return parts.join('; ');
  // A Response of fetch, thrown or passed as the cause.
  const status = fieldOf(thrown, 'status');
  if (typeof status === 'number') return `HTTP ${status}`;
  return textOf(thrown, 'stack') === undefined ? `threw ${describeSafely(thrown)}` : '';
}

function partsOf(thrown: unknown): readonly unknown[] {
  const errors = fieldOf(thrown, 'errors');
  try {
    return Array.isArray(errors) ? errors.slice(0, MAX_PARTS) : [];
  } catch {
    return [];
  }
}

function describeSafely(value: unknown): string {
  try {
    return describeValue(value);
  } catch {
    // A cycle, a bigint, a symbol, a function, or a toJSON that throws.
    return `a ${typeof value}`;
  }
}
