import type { Inspection } from '../../../local/debugger/inspection.ts';

const CLIENTS = {
  node: 'in VS Code, or in Chrome at chrome://inspect',
  python: 'in VS Code, or with another client of debugpy',
} as const;

/** Where a debugger attaches. Shown as long as the mesh runs. */
export function attachText({ actor, language, port }: Inspection): string {
  return `debug ${actor}: attach to 127.0.0.1:${port} ${CLIENTS[language]}`;
}

export function debuggerText(actor: string, isAttached: boolean): string {
  return isAttached
    ? `a debugger is attached to ${actor}: its timeouts are paused`
    : `the debugger has left ${actor}: its timeouts continue`;
}
