/** Messages between the mesh and the process of a function. */

export type MeshMessage = InvokeMessage | DebuggerMessage;

/** Sent when the process is ready, and at each change. */
export interface DebuggerMessage {
  readonly kind: 'debugger';
  /** Whether timeouts pause, because a debugger is attached to the handler. */
  readonly isAttached: boolean;
}

export interface InvokeMessage {
  readonly kind: 'invoke';
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
