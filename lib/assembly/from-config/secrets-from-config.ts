import type { JsonLog } from '../../adapters/log/json-log.ts';
import { type SecretValues, secretValues } from '../../app/secrets/secret-values.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';
import { withSecretAdvice } from '../../config/settings/secret-advice.ts';
import { type SecretReference, secretDescription } from '../../config/settings/secret-reference.ts';
import { secretValue } from '../../config/settings/secret-value.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SecretReading, SecretSource } from '../../ports/secret-source.ts';
import type { AwsClients, ReadText } from './aws-clients.ts';

type StoreKind = 'secretsManager' | 'ssm';

/** The handler's secrets, which are being read from now on. Undefined if it has none. */
export function secretsFromConfig(
  { runtime, sqs }: Pick<SidecarConfig, 'runtime' | 'sqs'>,
  env: Environment,
  clock: Clock,
  log: JsonLog,
  clients: AwsClients,
): SecretValues | undefined {
  const entries = Object.entries(runtime.secrets ?? {});
  if (entries.length === 0) return undefined;
  const textOf = oneReadAtATime(stores(sqs.region, env, clients));
  const sources = entries.map(([variable, reference]): SecretSource => {
    const { kind, name, key } = partsOf(reference);
    return {
      variable,
      description: secretDescription(reference),
      read: async () => {
        const reading = await textOf(kind, name);
        if (!reading.ok) return { ok: false, problem: withSecretAdvice(reading.problem) };
        return secretValue(reading.value, key);
      },
    };
  });
  return secretValues({ sources, clock, refreshMs: runtime.secretsRefreshMs, onWarning: log.warn });
}

function partsOf(reference: SecretReference): { kind: StoreKind; name: string; key: string | undefined } {
  return 'ssm' in reference
    ? { kind: 'ssm', name: reference.ssm, key: undefined }
    : { kind: 'secretsManager', name: reference.secretsManager, key: reference.key };
}

/** Several keys of one secret are read with one request. */
function oneReadAtATime(open: (kind: StoreKind, region?: string) => Promise<ReadText>) {
  const reading = new Map<string, Promise<SecretReading>>();
  return (kind: StoreKind, name: string): Promise<SecretReading> => {
    const id = `${kind} ${name}`;
    const known = reading.get(id);
    if (known !== undefined) return known;
    const read = open(kind, regionIn(name))
      .then((readText) => readText(name))
      .finally(() => reading.delete(id));
    reading.set(id, read);
    return read;
  };
}

/** An ARN may be of another region: `arn:aws:ssm:eu-west-1:111122223333:parameter/a`. */
function regionIn(name: string): string | undefined {
  return name.startsWith('arn:') ? name.split(':')[3] : undefined;
}

/** Opens a store on first use: most actors have no secrets. */
function stores(ownRegion: string, env: Environment, clients: AwsClients) {
  const opened = new Map<string, Promise<ReadText>>();
  return (kind: StoreKind, region = ownRegion): Promise<ReadText> => {
    const id = `${kind} ${region}`;
    const open = kind === 'ssm' ? clients.parameterStore : clients.secretsManager;
    const store = opened.get(id) ?? open(region, env);
    opened.set(id, store);
    return store;
  };
}
