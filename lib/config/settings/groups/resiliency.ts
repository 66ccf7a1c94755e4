import { positiveDuration, text } from '../kinds.ts';
import { optional, setting } from '../setting.ts';

/** In the configuration: `actor.timeoutMs`, and compiled as `actor.resiliency`. */
export const RESILIENCY = {
  timeoutMs: setting('ASYA_RESILIENCY_ACTOR_TIMEOUT', positiveDuration, {
    about: 'How long one call of the actor may take.',
    default: '5m',
  }),
  policies: optional('ASYA_RESILIENCY_POLICIES', text, {
    about: 'Retry policies by name, as a JSON object.',
    unset: 'none',
  }),
  rules: optional('ASYA_RESILIENCY_RULES', text, {
    about: 'Rules that select a policy by the type of the error, as a JSON array.',
    unset: 'none',
  }),
  file: optional('ASYA_RESILIENCY_FILE', text, {
    about: 'File with both: `{"policies":{...},"rules":[...]}`. Set either the file or the variables.',
    unset: 'none',
  }),
};
