import type { Runtime } from '../../ports/runtime.ts';
import type { ProcessStreams } from './spawn-group.ts';

/** Calls the processes of a command, one process after the other. */
export interface ProcessClient extends Runtime {
  /**
   * Set if the process inherits streams for its calls. From now on calls go to the process at their other end.
   * @param onReady The process has loaded its handler.
   * @param onLost It gets no more calls. `problem` is set if it sent something that cannot be read, which may be found
   * after a first notice without a problem.
   * @returns A function that ends the calls that are left. Call it when nothing more can arrive.
   */
  attach?(
    streams: ProcessStreams,
    onReady: () => void,
    onLost: (problem: string | undefined) => void,
  ): () => void;
  /** The process is about to be killed. Default: `interrupt`. */
  abandon?(): void;
  /** The process has printed a line during a call. */
  printed?(): void;
}
