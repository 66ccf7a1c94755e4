import { describe, expect, it } from 'vitest';
import { readApiKeys } from '../../../lib/config/settings/api-keys.ts';
import { type Mistake, mistakeCollector } from '../../../lib/core/text/mistake.ts';

const HASH = 'ab'.repeat(32);

function reading(value: unknown) {
  const mistakes: Mistake[] = [];
  const keys = readApiKeys(
    typeof value === 'string' ? value : JSON.stringify(value),
    mistakeCollector(mistakes, 'keys'),
  );
  return { keys, mistakes: mistakes.map(({ place, problem }) => `${place} ${problem}`) };
}

describe('the keys of the gateway', () => {
  it('are read with their flows and expiry', () => {
    const expires_at = '2027-01-01T00:00:00Z';
    expect(reading([{ id: 'ci', sha256: HASH.toUpperCase(), flows: ['enhance'], expires_at }])).toEqual({
      keys: [{ id: 'ci', sha256: HASH, flows: ['enhance'], expiresMs: Date.parse(expires_at) }],
      mistakes: [],
    });
  });

  it.each([
    ['{', 'is not a JSON array of keys'],
    [{}, 'is not a JSON array of keys'],
    [[7], 'is not an object'],
    [[{ id: '', sha256: HASH }], 'id is ""'],
    [[{ id: 'ci', sha256: 'asya_plain-key' }], 'sha256 is not a SHA-256'],
    [[{ id: 'ci', sha256: HASH, flows: 'all' }], 'flows is not a list'],
    [[{ id: 'ci', sha256: HASH, expires_at: 'soon' }], 'expires_at is "soon"'],
    [[{ id: 'ci', sha256: HASH, flow: [] }], 'flow'],
    [
      [
        { id: 'ci', sha256: HASH },
        { id: 'ci', sha256: HASH },
      ],
      'contains the id "ci" more than once',
    ],
  ])('reports mistakes without showing a key or its hash: %j', (value, message) => {
    const { mistakes } = reading(value);
    expect(mistakes.join()).toContain(message);
    expect(mistakes.join()).not.toContain('asya_plain-key');
    expect(mistakes.join()).not.toContain(HASH);
  });
});
