import { defined } from '../../../core/text/defined.ts';
import type { Mistake } from '../../../core/text/mistake.ts';
import { keysUrl } from '../addresses.ts';
import { type Kind, oneOf, text, wholeNumber } from '../kinds.ts';
import { optional, setting, type Values } from '../setting.ts';

const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

export const serviceAccount: Kind<string> = {
  takes: 'the email address of a service account',
  read: (value) =>
    EMAIL.test(value)
      ? { value }
      : { problem: 'expected an email address like "push@my-project.iam.gserviceaccount.com"' },
  write: (value) => value,
};

/** Who may push, for a host on Cloud Run. `receiver` is the name of the host in the docs. */
export function pushTrustSettings(prefix: string, receiver: string) {
  return {
    auth: setting(`${prefix}AUTH`, oneOf('oidc', 'iam', 'none'), {
      about: `\`oidc\`: a push needs a token from Google, and ${receiver} verifies its signature. \`iam\`: Cloud Run verifies and removes the signature; ${receiver} checks the other claims. \`none\`: anyone may push; for emulators, which send no token.`,
      default: 'oidc',
    }),
    audience: optional(`${prefix}AUDIENCE`, text, {
      about: `Audience that the token of a push must have. Required unless \`${prefix}AUTH\` is \`none\`.`,
      unset: '-',
    }),
    serviceAccount: optional(`${prefix}SERVICE_ACCOUNT`, serviceAccount, {
      about: `Service account that the subscription uses to push. Required unless \`${prefix}AUTH\` is \`none\`.`,
      unset: '-',
    }),
    jwksUrl: optional(`${prefix}JWKS_URL`, keysUrl, {
      about: 'URL of the keys that verify tokens.',
      unset: "Google's",
    }),
  };
}

/** What Pub/Sub allows for the ack deadline of a subscription. */
const MIN_ACK_DEADLINE_SECONDS = 10;
const MAX_ACK_DEADLINE_SECONDS = 600;

/** In the configuration: `push`. Read by the host on Cloud Run. */
export const PUSH = {
  ...pushTrustSettings('ASYA_PUSH_', 'the host'),
  ackDeadlineSeconds: setting(
    'ASYA_PUSH_ACK_DEADLINE',
    wholeNumber(MIN_ACK_DEADLINE_SECONDS, MAX_ACK_DEADLINE_SECONDS),
    {
      about: 'Ack deadline of the subscription, in seconds: how long Pub/Sub waits for the answer to a push.',
      default: '600',
    },
  ),
  port: optional('ASYA_PUSH_PORT', wholeNumber(0, 65_535), {
    about: 'Port for pushes. 0: any free port.',
    unset: '`PORT`, which Cloud Run sets, then 8080',
  }),
};

/** Which pushes a host accepts. */
export type PushTrust =
  | {
      /** `iam`: Cloud Run has verified the signature. */
      readonly auth: 'oidc' | 'iam';
      readonly audience: string;
      readonly serviceAccount: string;
      readonly jwksUrl?: string;
    }
  /** Anyone's. */
  | { readonly auth: 'none' };

/** Requires the audience and the service account, unless authentication is switched off explicitly. */
export function pushTrustFrom(
  values: Values<ReturnType<typeof pushTrustSettings>>,
  prefix: string,
  mistakes: Mistake[],
): PushTrust {
  const { auth, audience, serviceAccount: account, jwksUrl } = values;
  if (auth === 'none') return { auth };
  const reportMissing = (name: string, expected: string) =>
    mistakes.push({
      place: `${prefix}${name}`,
      problem: `is not set; expected ${expected}; set ${prefix}AUTH=none only for an emulator, which sends no tokens`,
    });
  if (audience === undefined)
    reportMissing('AUDIENCE', 'the audience of the push tokens, as configured in the subscription');
  if (account === undefined)
    reportMissing('SERVICE_ACCOUNT', 'the service account that the subscription uses to push');
  return { auth, audience: audience ?? '', serviceAccount: account ?? '', ...defined({ jwksUrl }) };
}
