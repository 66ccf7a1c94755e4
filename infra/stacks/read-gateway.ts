import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import { type Fields, isFields } from '../../lib/core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../lib/core/text/mistake.ts';
import type { GatewayOptions, GatewayTokens } from '../constructs/mesh-gateway.ts';

/** The options of a gateway that an environment in cdk.json can set. `GatewayOptions` describes them. */
export type GatewayChoices = Pick<GatewayOptions, 'tokens' | 'origins' | 'callersAtOnce'>;

const FIELDS = ['tokens', 'origins', 'callersAtOnce'] as const;
const TOKEN_FIELDS = ['issuer', 'audience', 'jwksUrl'] as const;

/** Reads `true`, `false` or an object with options. Returns undefined if there is no gateway. */
export function readGateway(value: unknown, notes: MistakeCollector): GatewayChoices | undefined {
  if (value === undefined || value === false) return undefined;
  if (value === true) return {};
  if (!isFields(value)) {
    notes.add(
      `is ${describeValue(value)}; expected true, false or an object with any of ${FIELDS.join(', ')}`,
    );
    return undefined;
  }
  addUnknownKeys(notes, value, FIELDS);
  const tokens = tokensIn(value, notes.at('tokens'));
  const origins = originsIn(value, notes.at('origins'));
  const callersAtOnce = callersIn(value, notes.at('callersAtOnce'));
  return defined({ tokens, origins, callersAtOnce });
}

function tokensIn({ tokens }: Fields, notes: MistakeCollector): GatewayTokens | undefined {
  if (tokens === undefined) return undefined;
  const { issuer, audience, jwksUrl } = isFields(tokens) ? tokens : ({} as Fields);
  if (isFields(tokens)) addUnknownKeys(notes, tokens, TOKEN_FIELDS);
  if (isText(issuer) && isText(audience) && isText(jwksUrl) && jwksUrl.startsWith('https://'))
    return { issuer, audience, jwksUrl };
  notes.add(
    `is ${describeValue(tokens)}; expected an object with issuer, audience and jwksUrl; jwksUrl must start with https://`,
  );
  return undefined;
}

function originsIn({ origins }: Fields, notes: MistakeCollector): readonly string[] | undefined {
  if (origins === undefined) return undefined;
  if (Array.isArray(origins) && origins.every((one) => isText(one) && /^https?:\/\/[^/,\s]+$/.test(one)))
    return origins;
  notes.add(`is ${describeValue(origins)}; expected a list of origins like "https://app.example"`);
  return undefined;
}

function callersIn({ callersAtOnce }: Fields, notes: MistakeCollector): number | undefined {
  if (callersAtOnce === undefined) return undefined;
  if (Number.isInteger(callersAtOnce) && (callersAtOnce as number) >= 1) return callersAtOnce as number;
  notes.add(`is ${describeValue(callersAtOnce)}; expected a whole number, at least 1`);
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
