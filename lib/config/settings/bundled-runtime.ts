import type { MistakeCollector } from '../../core/text/mistake.ts';
import type { RuntimeAddress } from './addresses.ts';

/** How a command names a runtime of this package: `asya_start.py`, `asya_runtime.py`, `asya-runtime.ts` or `python -m asya`. */
const BUNDLED =
  /(?:^|[\s/'"])(?:asya_(?:runtime|start)\.py|asya-runtime\.(?:ts|js|cjs))(?=$|[\s'"])|\s-m\s+asya(?=$|\s)/;

interface RuntimeSettings {
  readonly address?: RuntimeAddress | undefined;
  readonly command?: string | undefined;
  readonly protocol: 'payload' | 'envelope';
}

/**
 * The address of the runtime. Without `ASYA_RUNTIME_URL` it is the socket, in the protocol `asya:` if the command starts
 * a bundled runtime, and otherwise `unix:`, which any runtime can implement.
 */
export function addressOf(
  { address, command, protocol }: RuntimeSettings,
  socketPath: string,
  notes: MistakeCollector,
): RuntimeAddress {
  if (address?.kind === 'asya' && protocol === 'envelope')
    notes.add(
      'is "envelope", but "asya:" in ASYA_RUNTIME_URL has its own protocol; unset one of them, or use "unix:"',
    );
  if (address !== undefined) return address;
  const isBundled = protocol === 'payload' && command !== undefined && BUNDLED.test(command);
  return { kind: isBundled ? 'asya' : 'socket', path: socketPath };
}
