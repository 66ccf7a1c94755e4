import type { Environment } from '../../lib/config/settings/variables.ts';
import { type FoundEmulator, findPubsubEmulator } from '../../lib/local/engines/find-pubsub-emulator.ts';
import { type PubsubEmulator, startPubsubEmulator } from '../../lib/local/engines/pubsub-emulator.ts';

/** Searched once for each test file. */
const FOUND: FoundEmulator = findPubsubEmulator(process.env as Environment);

/** Why Google's emulator is not available on this machine; undefined if it is. */
export const PUBSUB_ABSENCE: string | undefined = 'absence' in FOUND ? FOUND.absence : undefined;

export const PROJECT = 'asya-test';

export function startPubsub(): Promise<PubsubEmulator> {
  if ('absence' in FOUND) throw new Error(FOUND.absence);
  return startPubsubEmulator(FOUND);
}
