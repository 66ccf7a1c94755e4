/** Between the mesh and a function's process. */

export interface InvokeMessage {
  readonly requestId: string;
  readonly event: unknown;
  /** Milliseconds since 1970: then it is killed. */
  readonly deadlineMs: number;
}

export type HostMessage =
  | { readonly kind: 'ready' }
  /** It could not be loaded, and ends. */
  | { readonly kind: 'refused'; readonly problem: string }
  /** The answer as JSON; none where the handler returned nothing. */
  | { readonly kind: 'answered'; readonly requestId: string; readonly json?: string }
  | { readonly kind: 'failed'; readonly requestId: string; readonly problem: string };
