import type { PublishRequest } from '../../ports/publish-request.ts';
import { ACCEPTED } from '../../ports/reply.ts';
import { type RestOptions, restCall } from './rest-call.ts';

/** The same request that a Cloud Tasks task makes when it is due. */
export function publishRequest(options: RestOptions): PublishRequest {
  const call = restCall(options);
  return async (topic, body) => {
    const answer = await call('POST', `${topic}:publish`, body);
    return answer.ok ? ACCEPTED : answer;
  };
}
