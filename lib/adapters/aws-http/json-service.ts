import { type AwsError, type AwsJsonService, awsError } from '../../ports/aws-service.ts';
import type { HttpAnswer } from '../../ports/http-client.ts';
import { AWS_SERVICES } from './aws-endpoint.ts';
import { type AwsAccess, awsRequests } from './aws-requests.ts';

/** The services with a JSON protocol: how its operations are named, and its version. */
const PROTOCOLS = {
  sqs: { prefix: 'AmazonSQS', version: '1.0' },
  ssm: { prefix: 'AmazonSSM', version: '1.1' },
  secretsManager: { prefix: 'secretsmanager', version: '1.1' },
} as const;

export function awsJsonService(name: keyof typeof PROTOCOLS, access: AwsAccess): AwsJsonService {
  const { prefix, version } = PROTOCOLS[name];
  const { send, ...requests } = awsRequests(AWS_SERVICES[name], access);
  return {
    ...requests,
    call: async (operation, input, options) => {
      const headers = {
        'content-type': `application/x-amz-json-${version}`,
        'x-amz-target': `${prefix}.${operation}`,
      };
      return outputIn(await send({ headers, body: JSON.stringify(input) }, errorOf, options));
    },
  };
}

/** Without the members that are null: some engines write null for an empty list, and the AWS SDK ignores it. */
function outputIn<Output>(text: string): Output {
  const members = Object.entries(Object(text === '' ? {} : JSON.parse(text)));
  return Object.fromEntries(members.filter(([, value]) => value !== null)) as Output;
}

/**
 * Engines write the code of an error in different places, as the AWS SDK reads it. It may have a namespace before it, and an
 * address or its type after it.
 */
function errorOf({ status, headers, body }: HttpAnswer): AwsError {
  const content = fieldsIn(body);
  const type =
    headers['x-amzn-errortype'] ??
    content['__type'] ??
    content['code'] ??
    content['Code'] ??
    headers['x-amzn-query-error'];
  if (typeof type !== 'string')
    return awsError('UnknownError', `the service answered with status ${status}`, status);
  const code = type.replace(/[:;,].*$/, '').replace(/^.*#/, '');
  return awsError(code, String(content['message'] ?? content['Message'] ?? ''), status);
}

/** An error may come from something in between that answers with another format. */
function fieldsIn(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
