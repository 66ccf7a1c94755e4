import { type AwsError, type AwsQueryService, awsError } from '../../ports/aws-service.ts';
import type { HttpAnswer } from '../../ports/http-client.ts';
import { AWS_SERVICES } from './aws-endpoint.ts';
import { type AwsAccess, awsRequests } from './aws-requests.ts';
import { elementText } from './element-text.ts';

/** The version of its API. */
const STS_VERSION = '2011-06-15';

/** STS, which has the query protocol: a form as the request, and XML as the answer. */
export function awsStsService(access: AwsAccess): AwsQueryService {
  const { send, ...requests } = awsRequests(AWS_SERVICES.sts, access);
  return {
    ...requests,
    call: async (action, parameters, options) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const form = new URLSearchParams({ Action: action, Version: STS_VERSION, ...parameters });
      const answer = await send({ headers, body: form.toString() }, errorOf, options);
      return { textOf: (element) => elementText(answer, element) };
    },
  };
}

function errorOf({ status, body }: HttpAnswer): AwsError {
  const code = elementText(body, 'Code');
  return code === undefined
    ? awsError('UnknownError', `the service answered with status ${status}`, status)
    : awsError(code, elementText(body, 'Message') ?? '', status);
}
