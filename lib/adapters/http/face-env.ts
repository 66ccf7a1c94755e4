import type { Caller } from '../../app/gateway/gateway.ts';

/** Hono variables that routes can read after authentication. */
export interface FaceEnv {
  readonly Variables: { caller: Caller };
}
