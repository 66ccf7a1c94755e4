import type { Caller } from '../../app/gateway/gateway.ts';

/** What a route knows of a request once it was let in. */
export interface FaceEnv {
  readonly Variables: { caller: Caller };
}
