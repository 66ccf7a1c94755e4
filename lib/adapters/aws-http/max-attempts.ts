import type { Environment } from '../../config/settings/variables.ts';

const DEFAULT_MAX_ATTEMPTS = 3;

/** How often a request is sent at most. Read as the AWS SDK does. */
export function maxAttemptsFrom(env: Environment): number {
  const text = env['AWS_MAX_ATTEMPTS'];
  if (!text) return DEFAULT_MAX_ATTEMPTS;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new Error(`asya: AWS_MAX_ATTEMPTS is "${text}"; expected a whole number from 1 to 9999`);
}
