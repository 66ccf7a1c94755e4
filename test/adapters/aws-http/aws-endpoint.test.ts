import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { STSClient } from '@aws-sdk/client-sts';
import { describe, expect, it } from 'vitest';
import { AWS_SERVICES, awsEndpoint } from '../../../lib/adapters/aws-http/aws-endpoint.ts';

const REGIONS = [
  'us-east-1',
  'eu-central-1',
  'ap-southeast-3',
  'mx-central-1',
  'cn-north-1',
  'cn-northwest-1',
  'us-gov-west-1',
  'us-gov-east-1',
  'us-iso-east-1',
  'us-isob-east-1',
  'eu-isoe-west-1',
  'us-isof-south-1',
  'eusc-de-east-1',
];
const CLIENTS = { sqs: SQSClient, ssm: SSMClient, sts: STSClient, secretsManager: SecretsManagerClient };
const FLAGS = [
  { UseFIPS: false, UseDualStack: false },
  { UseFIPS: true, UseDualStack: false },
  { UseFIPS: false, UseDualStack: true },
  { UseFIPS: true, UseDualStack: true },
];
const SERVICES = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];
const { sqs, secretsManager } = AWS_SERVICES;

/** The endpoint that the AWS SDK chooses. */
function bySdk(service: keyof typeof CLIENTS, Region: string, flags: (typeof FLAGS)[number]): string {
  const client = new CLIENTS[service]({ region: Region });
  const { url } = (client.config as SQSClient['config']).endpointProvider({ Region, ...flags });
  client.destroy();
  return url.href;
}

describe('the endpoint of a region', () => {
  it.each(SERVICES.flatMap((service) => REGIONS.map((region) => [service, region] as const)))(
    'of %s in %s is that of the AWS SDK, also with FIPS and dual stack',
    (service, region) => {
      for (const flags of FLAGS) {
        const env = {
          AWS_USE_FIPS_ENDPOINT: String(flags.UseFIPS),
          AWS_USE_DUALSTACK_ENDPOINT: String(flags.UseDualStack),
        };
        expect(awsEndpoint(AWS_SERVICES[service], { region }, env).href).toBe(bySdk(service, region, flags));
      }
    },
  );
});

describe('a custom endpoint', () => {
  const region = 'eu-central-1';
  const hrefOf = (
    env: Record<string, string>,
    endpoint?: string,
    service: typeof sqs | typeof secretsManager = sqs,
  ) => awsEndpoint(service, { region, ...(endpoint !== undefined && { endpoint }) }, env).href;

  it('is the given one, then that of the service, then that of all services', () => {
    const env = { AWS_ENDPOINT_URL: 'http://all:1', AWS_ENDPOINT_URL_SQS: 'http://sqs:2' };
    expect(hrefOf(env, 'http://given:3')).toBe('http://given:3/');
    expect(hrefOf(env)).toBe('http://sqs:2/');
    expect(hrefOf({ AWS_ENDPOINT_URL: 'http://all:1' })).toBe('http://all:1/');
    expect(hrefOf({ AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://secrets:4' }, undefined, secretsManager)).toBe(
      'http://secrets:4/',
    );
  });

  it('can have a path, which ends with a slash in requests, like those of the AWS SDK', () => {
    expect(hrefOf({}, 'http://given:3/aws')).toBe('http://given:3/aws/');
    expect(hrefOf({ AWS_ENDPOINT_URL: 'http://all:1/aws/' })).toBe('http://all:1/aws/');
  });

  it('of the environment can be ignored', () => {
    const env = { AWS_ENDPOINT_URL: 'http://all:1', AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' };
    expect(hrefOf(env)).toBe('https://sqs.eu-central-1.amazonaws.com/');
    expect(hrefOf(env, 'http://given:3')).toBe('http://given:3/');
  });

  it.each([
    [
      { AWS_USE_FIPS_ENDPOINT: 'true' },
      'AWS_USE_FIPS_ENDPOINT is true, and sqs has the custom endpoint "http://a:1"',
    ],
    [{ AWS_USE_DUALSTACK_ENDPOINT: 'true' }, 'AWS_USE_DUALSTACK_ENDPOINT is true, and sqs has'],
  ])('is refused with %o, as by the AWS SDK', (env, message) => {
    expect(() => hrefOf(env, 'http://a:1')).toThrow(message);
  });

  it('that is no URL is refused, and so is a flag that is neither true nor false', () => {
    expect(() => hrefOf({ AWS_ENDPOINT_URL: 'localhost' })).toThrow(
      'the endpoint of sqs is "localhost"; expected a URL',
    );
    expect(() => hrefOf({ AWS_USE_FIPS_ENDPOINT: 'yes' })).toThrow(
      'AWS_USE_FIPS_ENDPOINT is "yes"; expected true or false',
    );
  });
});
