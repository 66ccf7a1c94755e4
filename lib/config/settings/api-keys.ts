import { defined } from '../../core/text/defined.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../core/text/mistake.ts';
import { instantMs, TIMESTAMP_RULE } from '../../core/text/timestamp.ts';

/** A caller of the gateway. The key itself is not stored. */
export interface ApiKey {
  readonly id: string;
  /** SHA-256 of the key, in hex. */
  readonly sha256: string;
  /** The flows that it may call. Undefined: all. */
  readonly flows?: readonly string[];
  readonly expiresMs?: number;
}

const FIELDS = ['id', 'sha256', 'flows', 'expires_at'] as const;

/** `[{"id":"ci","sha256":"…","flows":["enhance"],"expires_at":"2027-01-01T00:00:00Z"}]`. Reports all mistakes. */
export function readApiKeys(text: string, notes: MistakeCollector): readonly ApiKey[] {
  const items = listIn(text);
  if (items === undefined) {
    notes.add('is not a JSON array of keys like [{"id":"ci","sha256":"..."}]');
    return [];
  }
  const keys = items.flatMap((item, index) => readApiKey(item, notes.at(index)) ?? []);
  const ids = keys.map(({ id }) => id);
  for (const id of new Set(ids.filter((one, index) => ids.indexOf(one) !== index)))
    notes.add(`contains the id "${id}" more than once; both keys would own the same tasks`);
  return keys;
}

function listIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readApiKey(item: unknown, notes: MistakeCollector): ApiKey | undefined {
  if (!isFields(item)) {
    notes.add('is not an object like {"id":"ci","sha256":"..."}');
    return undefined;
  }
  addUnknownKeys(notes, item, FIELDS);
  const { id, sha256, flows, expires_at } = item;
  if (typeof id !== 'string' || !/^[\w.@-]{1,128}$/.test(id)) {
    notes.at('id').add(`is ${describeValue(id)}; expected 1 to 128 letters, digits and . _ @ -`);
    return undefined;
  }
  // Someone may have entered the key itself, so the message does not show the value.
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    notes.at('sha256').add('is not a SHA-256 hash in hex (64 digits); never enter the key itself');
    return undefined;
  }
  if (flows !== undefined && !(Array.isArray(flows) && flows.every((flow) => typeof flow === 'string')))
    notes.at('flows').add('is not a list of flow names');
  const expiresMs = instantMs(expires_at);
  if (expires_at !== undefined && expiresMs === undefined)
    notes.at('expires_at').add(`is ${describeValue(expires_at)}; ${TIMESTAMP_RULE}`);
  return {
    id,
    sha256: sha256.toLowerCase(),
    ...(Array.isArray(flows) ? { flows: flows.map(String) } : {}),
    ...defined({ expiresMs }),
  };
}
