import { defined } from '../../core/text/defined.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { type Kind, oneOf } from './setting.ts';

/** Whose pushes a host takes. */
export type PushTrust =
  | {
      /** `iam`: Cloud Run has asked for the token before us. */
      readonly auth: 'oidc' | 'iam';
      readonly audience: string;
      readonly serviceAccount: string;
      readonly jwksUrl?: string;
    }
  /** Anybody's. */
  | { readonly auth: 'none' };

export const pushAuth = oneOf('oidc', 'iam', 'none');

const EMAIL = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

export const serviceAccount: Kind<string> = {
  takes: "a service account's e-mail",
  read: (value) =>
    EMAIL.test(value)
      ? { value }
      : { problem: 'it takes an e-mail like "push@my-project.iam.gserviceaccount.com"' },
  write: (value) => value,
};

export interface PushValues {
  readonly auth: PushTrust['auth'] | undefined;
  readonly audience: string | undefined;
  readonly serviceAccount: string | undefined;
  readonly jwksUrl: string | undefined;
}

/** Nobody is let in by leaving something out. The names of the variables begin as the host's do. */
export function pushTrustFrom(values: PushValues, prefix: string, mistakes: Mistake[]): PushTrust {
  const { auth, audience, serviceAccount: account, jwksUrl } = values;
  if (auth === 'none') return { auth };
  const isNeeded = (name: string, what: string) =>
    mistakes.push({
      place: `${prefix}${name}`,
      problem: `is not set; it names ${what}. Only an emulator, which sends no tokens, is a reason for ${prefix}AUTH=none`,
    });
  if (audience === undefined)
    isNeeded('AUDIENCE', 'whom the tokens of pushes are for, as the subscription says it');
  if (account === undefined)
    isNeeded('SERVICE_ACCOUNT', 'the service account that the subscription pushes as');
  return {
    auth: auth ?? 'oidc',
    audience: audience ?? '',
    serviceAccount: account ?? '',
    ...defined({ jwksUrl }),
  };
}
