/** The package brings no types; this is what is used of it here. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** The folder of its LevelDB; without one everything is in memory. */
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  /** Its `close` closes the database too. */
  function dynalite(options?: DynaliteOptions): Server;
  export = dynalite;
}
