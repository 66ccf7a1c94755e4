import { defined } from '../../core/text/defined.ts';
import { describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../core/text/mistake.ts';
import { instantMs, TIMESTAMP_RULE } from '../../core/text/timestamp.ts';

/** Who may call the gateway. The key itself is kept nowhere. */
export interface ApiKey {
  readonly id: string;
  /** Of the key, in hex. */
  readonly sha256: string;
  /** The flows it is good for; undefined: all. */
  readonly flows?: readonly string[];
  readonly expiresMs?: number;
}

const FIELDS = ['id', 'sha256', 'flows', 'expires_at'] as const;

/** `[{"id":"ci","sha256":"…","flows":["enhance"],"expires_at":"2027-01-01T00:00:00Z"}]`, with every mistake noted. */
export function readApiKeys(text: string, notes: MistakeCollector): readonly ApiKey[] {
  const items = listIn(text);
  if (items === undefined) {
    notes.add('is no JSON array of keys like [{"id":"ci","sha256":"..."}]');
    return [];
  }
  const keys = items.flatMap((item, index) => readApiKey(item, notes.at(index)) ?? []);
  const ids = keys.map(({ id }) => id);
  for (const id of new Set(ids.filter((one, index) => ids.indexOf(one) !== index)))
    notes.add(`names "${id}" twice: whose tasks they are would be the same`);
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
    notes.add('is no object like {"id":"ci","sha256":"..."}');
    return undefined;
  }
  addUnknownKeys(notes, item, FIELDS);
  const { id, sha256, flows, expires_at } = item;
  if (typeof id !== 'string' || !/^[\w.@-]{1,128}$/.test(id)) {
    notes.at('id').add(`is ${describeValue(id)}; it takes 1 to 128 letters, digits and . _ @ -`);
    return undefined;
  }
  // What stands there may be the key itself, by mistake: it is not shown.
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256)) {
    notes.at('sha256').add('is no SHA-256 in hex, 64 digits; the key itself is never written down');
    return undefined;
  }
  if (flows !== undefined && !(Array.isArray(flows) && flows.every((flow) => typeof flow === 'string')))
    notes.at('flows').add("is no list of flows' names");
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
