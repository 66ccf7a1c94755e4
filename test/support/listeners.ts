import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A listening TCP socket of a process. */
export interface Listener {
  readonly pid: number;
  /** The address it is bound to, e.g. `127.0.0.1`, `0.0.0.0`, `::`. */
  readonly address: string;
  readonly port: number;
}

/** The state of a listening socket in the kernel's tables. */
const LISTEN = '0A';

/** All listening TCP sockets of these processes, from Linux's `/proc`. */
export function listenersOf(pids: readonly number[]): readonly Listener[] {
  const listening = new Map(['tcp', 'tcp6'].flatMap(tableOf));
  return pids.flatMap((pid) =>
    socketsOf(pid).flatMap((inode) => {
      const at = listening.get(inode);
      return at === undefined ? [] : [{ pid, ...at }];
    }),
  );
}

type Row = readonly [inode: string, at: { readonly address: string; readonly port: number }];

function tableOf(name: string): readonly Row[] {
  const [, ...lines] = readFileSync(`/proc/net/${name}`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', port = ''] = local.split(':');
    if (state !== LISTEN) return [];
    return [[inode, { address: addressFrom(address), port: Number.parseInt(port, 16) }] as const];
  });
}

/** The tables contain words of four bytes in the machine's byte order. */
function addressFrom(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex').reverse()]);
  if (bytes.length === 4) return bytes.join('.');
  const text = Buffer.from(bytes).toString('hex');
  if (text.startsWith('00000000000000000000ffff')) return bytes.slice(12).join('.');
  return text === '0'.repeat(32) ? '::' : (text.match(/.{4}/g) ?? []).join(':');
}

function socketsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    });
  } catch {
    // The process has ended meanwhile.
    return [];
  }
}
