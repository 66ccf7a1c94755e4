/** What the first bytes of a connection say about it. */
export interface DebugProtocol {
  /** Whether the first bytes of a client are those of a debugger. Other clients are disconnected. */
  accepts(first: Buffer): boolean;
  /** Whether a debugger is attached after the first exchange. */
  isAttached(first: Buffer, answer: Buffer): boolean;
}

const UPGRADED = Buffer.from('HTTP/1.1 101 ');
const MESSAGE_START = Buffer.from('Content-Length:');

/**
 * Node's inspector. A debugger opens a WebSocket; other requests only list what can be debugged. The inspector itself
 * rejects requests with a foreign `Host`, which reaches it unchanged.
 */
export const INSPECTOR_PROTOCOL: DebugProtocol = {
  accepts: () => true,
  isAttached: (_, answer) => startsWith(answer, UPGRADED),
};

/**
 * The debug adapter protocol of debugpy, which does not check where a message comes from: in the body of an HTTP request, a
 * message of a web page could run code. A request line is therefore rejected.
 */
export const ADAPTER_PROTOCOL: DebugProtocol = {
  accepts: (first) => startsWith(first, MESSAGE_START),
  isAttached: () => true,
};

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}
