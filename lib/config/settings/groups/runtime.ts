import type { Mistake } from '../../../core/text/mistake.ts';
import { runtimeAddress } from '../addresses.ts';
import { roleArn, variableMap } from '../handler-identity.ts';
import { absolutePath, listOf, oneOf, positiveDuration, text, wholeNumber } from '../kinds.ts';
import { secretReferences } from '../secret-references.ts';
import { computed, optional, setting } from '../setting.ts';

/** In the configuration: `runtime`. */
export const RUNTIME = {
  address: computed('ASYA_RUNTIME_URL', runtimeAddress, {
    about: 'Address of the runtime.',
    default:
      'none if `ASYA_RUNTIME_COMMAND` starts a bundled runtime, which inherits descriptors from the sidecar; otherwise `unix:` and `ASYA_SOCKET_PATH`',
  }),
  protocol: setting('ASYA_RUNTIME_PROTOCOL', oneOf('payload', 'envelope'), {
    about: 'What the sidecar sends to the runtime: the payload, or the whole envelope.',
    default: 'payload',
  }),
  command: optional('ASYA_RUNTIME_COMMAND', text, {
    about: 'Command that starts the runtime.',
    unset: 'the sidecar does not start the runtime',
  }),
  startupTimeoutMs: optional('ASYA_RUNTIME_STARTUP_TIMEOUT', positiveDuration, {
    about:
      "How long a runtime that the sidecar starts may take to become ready. It does not count towards any call's timeout. A runtime that takes longer is killed and started again.",
    unset: '`60s`; on Lambda also the actor timeout, if that is longer',
  }),
  passEnv: setting('ASYA_RUNTIME_PASS_ENV', listOf(text), {
    about:
      'Variables with credentials that the sidecar passes to a runtime that it starts. It removes all others.',
    default: '',
  }),
  secrets: optional('ASYA_RUNTIME_SECRETS', secretReferences, {
    about:
      'Secrets that the sidecar reads from AWS Secrets Manager and Systems Manager and passes to a runtime that it starts, by variable. See [Secrets](secrets.md).',
    unset: 'none',
  }),
  secretsRefreshMs: setting('ASYA_RUNTIME_SECRETS_REFRESH', positiveDuration, {
    about:
      'How old the values of secrets may be when a call starts. The sidecar reads older ones again, and restarts the runtime if a value has changed.',
    default: '5m',
  }),
  roleArn: optional('ASYA_RUNTIME_ROLE_ARN', roleArn, {
    about:
      "IAM role of the handler. The sidecar assumes it when the handler first needs credentials, and offers them to a runtime that it starts. The sidecar's own role needs `sts:AssumeRole` for it.",
    unset: 'the handler gets no credentials',
  }),
  env: optional('ASYA_RUNTIME_ENV', variableMap, {
    about:
      'Variables for a runtime that the sidecar starts, as a JSON object. They replace those of the same name; `null` removes one. `asya dev` sets it.',
    unset: 'none',
  }),
  maxResponseBytes: setting('ASYA_RUNTIME_MAX_RESPONSE', wholeNumber(1), {
    about: 'Maximum size of a response from the runtime, in bytes.',
    default: '6291456',
  }),
  concurrency: setting('ASYA_CONCURRENCY', wholeNumber(1), {
    about: 'How many calls the sidecar makes to the runtime at the same time.',
    default: '1',
  }),
};

/** Not in the configuration: the first is the default of another setting, and the runtime reads the others itself. */
export const RUNTIME_PROCESS = {
  socketPath: setting('ASYA_SOCKET_PATH', absolutePath, {
    about: "Path of the runtime's socket.",
    default: '/tmp/sockets/app.sock',
  }),
  handler: optional('ASYA_HANDLER', text, {
    about: 'Handler that the runtime loads, if its command does not name one. Read by the runtime.',
    unset: 'none',
  }),
  maxRequestBytes: setting('ASYA_RUNTIME_MAX_REQUEST', wholeNumber(1), {
    about: 'Maximum size of a request to the runtime, in bytes. Read by the runtime.',
    default: '16777216',
  }),
};

/** Only a runtime that the sidecar starts can receive variables from it. */
export function checkSecrets(
  { secrets, command }: { readonly secrets?: object; readonly command?: string },
  mistakes: Mistake[],
): void {
  if (secrets === undefined || Object.keys(secrets).length === 0 || command !== undefined) return;
  const problem = `is set, but ${RUNTIME.command.variable} is not; the sidecar passes secrets only to a runtime that it starts`;
  mistakes.push({ place: RUNTIME.secrets.variable, problem });
}
