import type { MistakeCollector } from '../../core/text/mistake.ts';
import { type RuntimeAddress, runtimeAddress } from './addresses.ts';

/** How a command names a runtime of this package: `asya_runtime.py`, `asya-runtime.ts` or `python -m asya`. */
const BUNDLED = {
  node: /(?:^|[\s/'"])asya-runtime\.(?:ts|js|cjs)(?=$|[\s'"])/,
  python: /(?:^|[\s/'"])asya_runtime\.py(?=$|[\s'"])|\s-m\s+asya(?=$|\s)/,
} as const;

type Language = keyof typeof BUNDLED;

/** The languages whose bundled runtime takes its calls over an inherited descriptor. */
const WITH_DESCRIPTOR: readonly Language[] = ['node'];

/** The address of a bundled runtime that the sidecar starts, if none is configured. */
export function bundledAddress(language: Language | undefined, socketPath: string): RuntimeAddress {
  const isInherited = language !== undefined && WITH_DESCRIPTOR.includes(language);
  return isInherited ? { kind: 'inherited' } : { kind: 'asya', path: socketPath };
}

/** The same for the bundled runtime that a command starts. Undefined if it starts another one. */
export function addressOfCommand(command: string, socketPath: string): RuntimeAddress | undefined {
  const language = (['node', 'python'] as const).find((name) => BUNDLED[name].test(command));
  return language === undefined ? undefined : bundledAddress(language, socketPath);
}

interface RuntimeSettings {
  readonly address?: RuntimeAddress | undefined;
  readonly command?: string | undefined;
  readonly protocol: 'payload' | 'envelope';
}

/**
 * The address of the runtime. Without `ASYA_RUNTIME_URL` it is an inherited descriptor if the command starts a bundled
 * runtime, and otherwise the socket in the protocol `unix:`, which any runtime can implement.
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
  const bundled =
    protocol === 'payload' && command !== undefined ? addressOfCommand(command, socketPath) : undefined;
  return bundled ?? { kind: 'socket', path: socketPath };
}

/** The descriptor of a bundled runtime. 0 to 2 are its standard streams, and 3 belongs to the shell that starts it. */
export const RUNTIME_FD = 4;

/** The variables that tell a runtime how it receives its calls. */
export function addressVariables(
  address: RuntimeAddress,
  concurrency: number,
): Readonly<Record<string, string>> {
  return address.kind === 'inherited'
    ? { ASYA_RUNTIME_FD: String(RUNTIME_FD), ASYA_CONCURRENCY: String(concurrency) }
    : { ASYA_RUNTIME_URL: runtimeAddress.write(address) };
}
