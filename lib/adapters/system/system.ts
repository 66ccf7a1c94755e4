import { createHash } from 'node:crypto';
import { realTimeouts, sleepWith } from '../../async/timeouts.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Clock, Random } from '../../ports/clock.ts';

export const systemClock: Clock = { now: Date.now, sleep: sleepWith(realTimeouts) };

export const systemRandom: Random = Math.random;

/** A UUID from a hash of the parts (version 8, for custom formats). */
export const deriveId: DeriveId = (...parts) => {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  hash.writeUInt8(((hash[6] ?? 0) & 0x0f) | 0x80, 6);
  hash.writeUInt8(((hash[8] ?? 0) & 0x3f) | 0x80, 8);
  const hex = hash.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
};
