import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Environment } from '../../config/settings/variables.ts';

/** Google's Pub/Sub emulator on this machine, or why it is not available. */
export type FoundEmulator = { readonly java: string; readonly jar: string } | { readonly absence: string };

const JAR_VARIABLE = 'PUBSUB_EMULATOR_JAR';
const USUAL_ROOTS = ['/usr/lib/google-cloud-sdk', '/usr/share/google-cloud-sdk', '/opt/google-cloud-sdk'];
const HOW_TO_GET_IT = `install it with \`gcloud components install pubsub-emulator\`, or set ${JAR_VARIABLE} to the path of its jar`;

/** Looks for the jar in the variable, then in the gcloud SDK, and for Java. */
export function findPubsubEmulator(env: Environment): FoundEmulator {
  const named = env[JAR_VARIABLE];
  if (named !== undefined && !existsSync(named)) {
    return { absence: `${JAR_VARIABLE} is "${named}", but this file does not exist` };
  }
  const jar = named ?? sdkRoots(env).map(jarIn).find(Boolean);
  if (jar === undefined) {
    return { absence: `Google's Pub/Sub emulator is not installed; ${HOW_TO_GET_IT}` };
  }
  const java = env['JAVA_HOME'] === undefined ? 'java' : join(env['JAVA_HOME'], 'bin/java');
  const { status, error } = spawnSync(java, ['-version'], { stdio: 'ignore', timeout: 20_000 });
  if (status === 0) return { java, jar };
  const why = error?.message ?? `exit status ${status}`;
  return { absence: `Google's Pub/Sub emulator needs Java, but ${java} cannot be run (${why})` };
}

/** The SDK of the `gcloud` on the PATH, and the usual folders. */
function sdkRoots(env: Environment): readonly string[] {
  const gcloud = (env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'gcloud'))
    .find((path) => existsSync(path));
  const home = env['HOME'];
  return [
    ...(gcloud === undefined ? [] : [dirname(dirname(realpathSync(gcloud)))]),
    ...(home === undefined ? [] : [join(home, 'google-cloud-sdk')]),
    ...USUAL_ROOTS,
  ];
}

function jarIn(sdkRoot: string): string | undefined {
  const folder = join(sdkRoot, 'platform/pubsub-emulator/lib');
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder).find((file) => /^cloud-pubsub-emulator-.*\.jar$/.test(file));
  return name === undefined ? undefined : join(folder, name);
}
