/** Types of the parts that are used here. The package has no types of its own. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** Folder of the LevelDB database. In memory if it is not set. */
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }

  /** The server's `close` also closes the database. */
  function dynalite(options?: DynaliteOptions): Server;
  export = dynalite;
}
