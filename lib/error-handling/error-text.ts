import { shownValue } from '../core/text/complaint.ts';
import { fieldOf, prototypesOf, textOf } from './guarded-read.ts';

/** What a thrown value is called, and what it says. */

export interface Names {
  readonly type: string;
  readonly mro: readonly string[];
}

/** As the Node runtime names it, so that a rule means the same here and there. */
export function namesOf(thrown: unknown): Names {
  const classes = prototypesOf(thrown)
    .map((prototype) => textOf(prototype, 'constructor', 'name') ?? 'Object')
    .filter((name, at, all) => name !== 'Object' && all.indexOf(name) === at);
  // A name that no class of its own has says more than the class: TimeoutError is a DOMException.
  const name = textOf(thrown, 'name');
  const isTelling = name !== undefined && typeof thrown === 'object' && !classes.includes(name);
  const [type = 'ThrownValue', ...ancestors] = isTelling ? [name, ...classes] : classes;
  const withError = type === 'Error' || ancestors.includes('Error') ? ancestors : [...ancestors, 'Error'];
  return { type, mro: [...withError, 'Exception'] };
}

const MAX_PARTS = 5;

export function messageOf(thrown: unknown): string {
  const message = typeof thrown === 'string' ? thrown : textOf(thrown, 'message');
  if (message !== undefined && message !== '') return message;
  // A connection refused at several addresses has no message of its own.
  const parts = partsOf(thrown).map((part) => textOf(part, 'message') ?? namesOf(part).type);
  if (parts.length > 0) return parts.join('; ');
  // A fetch's Response, thrown or given as the cause.
  const status = fieldOf(thrown, 'status');
  if (typeof status === 'number') return `HTTP ${status}`;
  return textOf(thrown, 'stack') === undefined ? `threw ${shownSafely(thrown)}` : '';
}

function partsOf(thrown: unknown): readonly unknown[] {
  const errors = fieldOf(thrown, 'errors');
  try {
    return Array.isArray(errors) ? errors.slice(0, MAX_PARTS) : [];
  } catch {
    return [];
  }
}

function shownSafely(value: unknown): string {
  try {
    return shownValue(value);
  } catch {
    // A cycle, a bigint, a symbol, a function, or a toJSON that throws.
    return `a ${typeof value}`;
  }
}
