import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RuntimeAddress } from '../../config/settings/addresses.ts';

/** A runtime that outlives its sidecar for a moment must not create it again. If it cannot be created, the runtime fails. */
export function createSocketFolder(address: RuntimeAddress): void {
  if (!('path' in address)) return;
  try {
    mkdirSync(dirname(address.path), { recursive: true });
  } catch {
    // The runtime reports that it cannot listen there.
  }
}
