import type { Environment } from '../../config/settings/variables.ts';

/** How a service's addresses and signatures are formed. */
export interface AwsServiceName {
  /** Part of the host, and of the signature: `sqs`. */
  readonly id: string;
  /** The end of `AWS_ENDPOINT_URL_...`. */
  readonly variable: string;
  /** The ordinary endpoint of GovCloud is also its FIPS endpoint. */
  readonly isFipsInGovCloud: boolean;
  /** The ordinary endpoint also has IPv6 addresses. */
  readonly isDualStack: (region: string, isFips: boolean) => boolean;
}

const COMMON = { isFipsInGovCloud: true, isDualStack: () => false } as const;

export const AWS_SERVICES = {
  sqs: { ...COMMON, id: 'sqs', variable: 'SQS' },
  ssm: { ...COMMON, id: 'ssm', variable: 'SSM' },
  sts: { ...COMMON, id: 'sts', variable: 'STS' },
  secretsManager: {
    id: 'secretsmanager',
    variable: 'SECRETS_MANAGER',
    isFipsInGovCloud: false,
    isDualStack: (region, isFips) =>
      !/^(eusc|us-iso.?|eu-iso.)-/.test(region) && !(isFips && region.startsWith('cn-')),
  },
} as const satisfies Readonly<Record<string, AwsServiceName>>;

/** Partitions of AWS: which regions they have, and how the hosts in them end, with IPv4 and with both. */
const PARTITIONS: readonly (readonly [regions: RegExp, suffix: string, dualStackSuffix: string])[] = [
  [/^cn-/, 'amazonaws.com.cn', 'api.amazonwebservices.com.cn'],
  [/^eusc-/, 'amazonaws.eu', 'api.amazonwebservices.eu'],
  [/^us-iso-/, 'c2s.ic.gov', 'api.aws.ic.gov'],
  [/^us-isob-/, 'sc2s.sgov.gov', 'api.aws.scloud'],
  [/^eu-isoe-/, 'cloud.adc-e.uk', 'api.cloud-aws.adc-e.uk'],
  [/^us-isof-/, 'csp.hci.ic.gov', 'api.aws.hci.ic.gov'],
  [/^/, 'amazonaws.com', 'api.aws'],
];

/**
 * The address of a service: the given one, or that of `AWS_ENDPOINT_URL_...` or `AWS_ENDPOINT_URL`, or the region's. It reads
 * the environment as the AWS SDK does.
 */
export function awsEndpoint(
  service: AwsServiceName,
  { region, endpoint }: { readonly region: string; readonly endpoint?: string },
  env: Environment,
): URL {
  const isFips = flagOf(env, 'AWS_USE_FIPS_ENDPOINT');
  const isDualStack = flagOf(env, 'AWS_USE_DUALSTACK_ENDPOINT');
  const custom = endpoint ?? configuredEndpoint(service, env);
  if (custom === undefined) return new URL(`https://${regionHost(service, region, isFips, isDualStack)}/`);
  if (isFips || isDualStack) {
    const variable = isFips ? 'AWS_USE_FIPS_ENDPOINT' : 'AWS_USE_DUALSTACK_ENDPOINT';
    throw new Error(
      `asya: ${variable} is true, and ${service.id} has the custom endpoint "${custom}"; remove one of them`,
    );
  }
  if (!URL.canParse(custom))
    throw new Error(
      `asya: the endpoint of ${service.id} is "${custom}"; expected a URL like "http://host:port"`,
    );
  const url = new URL(custom);
  url.pathname = url.pathname.replace(/\/?$/, '/');
  return url;
}

function regionHost(service: AwsServiceName, region: string, isFips: boolean, isDualStack: boolean): string {
  const [, suffix, dualStackSuffix] = PARTITIONS.find(([regions]) => regions.test(region)) ?? ['', '', ''];
  const hasOwnHost = isFips && (isDualStack || !service.isFipsInGovCloud || !region.startsWith('us-gov-'));
  const needsSuffix = isDualStack && !service.isDualStack(region, isFips);
  return `${service.id}${hasOwnHost ? '-fips' : ''}.${region}.${needsSuffix ? dualStackSuffix : suffix}`;
}

function configuredEndpoint({ variable }: AwsServiceName, env: Environment): string | undefined {
  if (flagOf(env, 'AWS_IGNORE_CONFIGURED_ENDPOINT_URLS')) return undefined;
  return env[`AWS_ENDPOINT_URL_${variable}`] || env['AWS_ENDPOINT_URL'] || undefined;
}

function flagOf(env: Environment, variable: string): boolean {
  const value = env[variable];
  if (value === undefined || value === '' || value === 'false') return false;
  if (value === 'true') return true;
  throw new Error(`asya: ${variable} is "${value}"; expected true or false`);
}
