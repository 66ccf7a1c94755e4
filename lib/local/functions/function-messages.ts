/** Messages between the mesh and the process of a function. */

export interface InvokeMessage {
  readonly requestId: string;
  readonly event: unknown;
  /** When the process is killed, in milliseconds since 1970. */
  readonly deadlineMs: number;
}

export type HostMessage =
  | { readonly kind: 'ready' }
  /** The handler could not be loaded. The process exits. */
  | { readonly kind: 'refused'; readonly problem: string }
  /** The response as JSON. Undefined if the handler returned nothing. */
  | { readonly kind: 'answered'; readonly requestId: string; readonly json?: string }
  | { readonly kind: 'failed'; readonly requestId: string; readonly problem: string };
