import type { HttpRuntimeOptions } from '../../adapters/runtime-http/http-runtime.ts';
import { asyaRuntime } from '../../adapters/runtime-socket/asya-runtime.ts';
import { channelRuntime } from '../../adapters/runtime-socket/channel-runtime.ts';
import { socketRuntime } from '../../adapters/runtime-socket/socket-runtime.ts';
import type { Timeouts } from '../../async/timeouts.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { defined } from '../../core/text/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Runtime } from '../../ports/runtime.ts';

/** What calls a runtime at its address. It does not start it. */
export async function runtimeClient(
  { actor, runtime }: SidecarConfig,
  { now }: Clock,
  timeouts: Timeouts | undefined,
): Promise<Runtime> {
  const { address, protocol, concurrency } = runtime;
  const common = { protocol, fanOut: actor.fanOut, maxAnswerBytes: runtime.maxResponseBytes };
  const framed = { ...common, actor: actor.name, ...defined({ timeouts }) };
  switch (address.kind) {
    case 'inherited':
      return channelRuntime({ ...framed, concurrency, now });
    case 'asya':
      return asyaRuntime({ ...framed, path: address.path });
    case 'socket':
      return socketRuntime({ ...common, path: address.path });
    case 'http':
      return openHttp({ ...common, url: address.url, connections: concurrency });
    case 'http-over-socket': {
      const url = `http://localhost${address.resource}`;
      const { path: socketPath } = address;
      return openHttp({ ...common, url, socketPath, connections: concurrency });
    }
  }
}

/** Its HTTP client takes longer to load than everything else, and a function contains it only if it needs it. */
async function openHttp(options: HttpRuntimeOptions): Promise<Runtime> {
  const { httpRuntime } = await import('../../adapters/runtime-http/http-runtime.ts');
  try {
    return await httpRuntime(options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(
      `asya: the runtime's address is ${options.socketPath ?? options.url}, but the code of this function does not contain the HTTP client; ` +
        "give the actor spec.url in its document, or unset ASYA_RUNTIME_URL to use the handler's own runtime",
      { cause: error },
    );
  }
}
