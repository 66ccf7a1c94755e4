import type { End } from '../core/envelope/end.ts';
import type { EndRecord } from '../core/failure/record.ts';
import type { Refusal } from './reply.ts';

/** The ended envelopes of a mesh, newest first. Expected failures are returned, never thrown. */
export interface RunIndex {
  /**
   * One page of the ends that match the filter.
   * @param options.limit The most ends that the page contains.
   * @param options.maxRead Stop after reading about this many records, whether they match or not. Default: no limit.
   * @param options.cursor The previous page's `next`. Default: the newest end.
   */
  list(filter: RunFilter, options: RunPageOptions): Promise<RunPage | Refusal>;
}

interface RunPageOptions {
  readonly limit: number;
  readonly maxRead?: number;
  readonly cursor?: string;
}

/** All conditions must match. A condition that is not set matches every end. */
export interface RunFilter {
  /** How the envelopes ended. */
  readonly end?: End;
  /** The actor at which they ended. */
  readonly actor?: string;
  readonly reason?: string;
  readonly flow?: string;
  /** Only envelopes whose id starts with this text. */
  readonly idPrefix?: string;
  /** Only ends at this time or later, in milliseconds since 1970. */
  readonly sinceMs?: number;
}

interface RunPage {
  readonly ok: true;
  /** Newest first. */
  readonly records: readonly EndRecord[];
  /** The cursor of the next page. Undefined if there are no more ends. */
  readonly next?: string;
  /** Set if reading stopped at `maxRead`: every match at this time or later was found, in milliseconds since 1970. */
  readonly searchedToMs?: number;
}
