import type { MistakeCollector } from '../../core/text/mistake.ts';
import { type RuntimeAddress, runtimeAddress } from './addresses.ts';

/** How a command names a runtime of this package: `asya_start.py`, `asya_runtime.py`, `asya-runtime.ts` or `python -m asya`. */
const BUNDLED =
  /(?:^|[\s/'"])(?:asya_(?:runtime|start)\.py|asya-runtime\.(?:ts|js|cjs))(?=$|[\s'"])|\s-m\s+asya(?=$|\s)/;

/** The address of a runtime of this package that the sidecar starts: descriptors that it inherits. */
export const BUNDLED_ADDRESS: RuntimeAddress = { kind: 'inherited' };

interface RuntimeSettings {
  readonly address?: RuntimeAddress | undefined;
  readonly command?: string | undefined;
  readonly protocol: 'payload' | 'envelope';
}

/**
 * The address of the runtime. Without `ASYA_RUNTIME_URL` it is a pair of inherited descriptors if the command starts a
 * bundled runtime, and otherwise the socket in the protocol `unix:`, which any runtime can implement.
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
  return isBundled ? BUNDLED_ADDRESS : { kind: 'socket', path: socketPath };
}

/** The descriptors of a bundled runtime. 0 to 2 are its standard streams, and 3 belongs to the shell that starts it. */
export const CALLS_FD = 4;
export const ANSWERS_FD = 5;
/** Variables that a bundled runtime removes before it loads the handler. */
export const FD_VARIABLES: readonly string[] = ['ASYA_RUNTIME_FD', 'ASYA_RUNTIME_ANSWER_FD'];

/** The variables that tell a runtime how it receives its calls. */
export function addressVariables(
  address: RuntimeAddress,
  concurrency: number,
): Readonly<Record<string, string>> {
  return address.kind === 'inherited'
    ? {
        ASYA_RUNTIME_FD: String(CALLS_FD),
        ASYA_RUNTIME_ANSWER_FD: String(ANSWERS_FD),
        ASYA_CONCURRENCY: String(concurrency),
      }
    : { ASYA_RUNTIME_URL: runtimeAddress.write(address) };
}
