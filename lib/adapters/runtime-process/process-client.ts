import type { Duplex } from 'node:stream';
import type { Runtime } from '../../ports/runtime.ts';

/** Calls the processes of a command, one process after the other. */
export interface ProcessClient extends Runtime {
  /**
   * Set if the process inherits a stream for its calls. From now on calls go to the process at its other end.
   * @param onReady The process has loaded its handler.
   * @param onLost The stream has ended. `problem` is set if the process sent something that cannot be read.
   */
  attach?(stream: Duplex, onReady: () => void, onLost: (problem: string | undefined) => void): void;
  /** The process is about to be killed. Default: `interrupt`. */
  abandon?(): void;
  /** The process has printed a line during a call. */
  printed?(): void;
}
