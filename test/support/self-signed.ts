import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { aFolder } from './a-folder.ts';

/** Why there are no certificates here; undefined if there are. */
export const noCertificates =
  spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0
    ? undefined
    : 'openssl is not installed';

/** A new certificate for 127.0.0.1, and its key. */
export function selfSigned(): { readonly cert: string; readonly key: string } {
  const folder = aFolder({});
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-out', cert, '-keyout', key],
  ]);
  if (status !== 0) throw new Error(`openssl failed: ${stderr}`);
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
