import { RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import { type Fields, isFields } from '../../lib/core/text/fields.ts';
import {
  addUnknownKeys,
  type Mistake,
  type MistakeCollector,
  mistakeCollector,
} from '../../lib/core/text/mistake.ts';
import { suggestion } from '../../lib/core/text/nearest.ts';
import { type GatewayChoices, readGateway } from './read-gateway.ts';

/** Where a mesh is deployed to, and what differs there: one of `environments` in cdk.json. */
export interface DeployEnvironment {
  /** Part of every name, so that several environments live in one account. */
  readonly name: string;
  /** Undefined: whichever the credentials are of. */
  readonly account?: string;
  /** Undefined: whichever the credentials are of. */
  readonly region?: string;
  readonly removalPolicy: RemovalPolicy;
  readonly logRetention: RetentionDays;
  readonly alarmEmail?: string;
  /** The most copies of any one function. */
  readonly concurrency?: number;
  /** Undefined: the mesh has none. */
  readonly gateway?: GatewayChoices;
}

const FIELDS = [
  'account',
  'region',
  'removalPolicy',
  'logRetentionDays',
  'alarmEmail',
  'concurrency',
  'gateway',
] as const;
const REMOVAL = { destroy: RemovalPolicy.DESTROY, retain: RemovalPolicy.RETAIN } as const;
const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const RETENTIONS = Object.values(RetentionDays).filter(
  (days): days is RetentionDays => typeof days === 'number' && days < 9999,
);

export type EnvironmentReading =
  | { readonly environment: DeployEnvironment }
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

/** One environment by its name, from what cdk.json holds under `environments`. Every mistake at once. */
export function readDeployEnvironment(environments: unknown, name: unknown): EnvironmentReading {
  const mistakes: Mistake[] = [];
  const environment = readNamed(environments, name, mistakes);
  const [first, ...others] = mistakes;
  return first === undefined && environment !== undefined
    ? { environment }
    : { mistakes: [first ?? { place: 'env', problem: 'cannot be read' }, ...others] };
}

function readNamed(environments: unknown, name: unknown, mistakes: Mistake[]): DeployEnvironment | undefined {
  const known = isFields(environments) ? environments : {};
  const notes = mistakeCollector(mistakes, '');
  if (typeof name !== 'string' || !Object.hasOwn(known, name)) {
    const words = Object.keys(known);
    const meant = typeof name === 'string' ? suggestion(name, words) : '';
    notes
      .at('env')
      .add(
        `is ${describeValue(name)}; cdk.json has ${words.join(', ') || 'none'} under "environments"${meant}`,
      );
    return undefined;
  }
  const here = notes.at('environments').at(name);
  if (!NAME.test(name))
    here.add('is a part of names: letters a-z, digits and "-", with no "-" at either end');
  const fields = known[name];
  if (!isFields(fields)) {
    here.add(`is ${describeValue(fields)}; it takes an object with any of ${FIELDS.join(', ')}`);
    return undefined;
  }
  addUnknownKeys(here, fields, FIELDS);
  const account = textIn(fields, 'account', /^\d{12}$/, 'an account has 12 digits, in quotes', here);
  const region = textIn(fields, 'region', /^[a-z]{2}(-[a-z]+)+-\d$/, 'a region is like "eu-central-1"', here);
  const alarmEmail = textIn(fields, 'alarmEmail', /^[^@\s]+@[^@\s]+$/, 'it takes an e-mail address', here);
  const concurrency = concurrencyIn(fields, here);
  const gateway = readGateway(fields['gateway'], here.at('gateway'));
  return {
    name,
    ...defined({ account, region }),
    removalPolicy: removalIn(fields, here),
    logRetention: retentionIn(fields, here),
    ...defined({ alarmEmail, concurrency, gateway }),
  };
}

function textIn(
  fields: Fields,
  key: string,
  form: RegExp,
  rule: string,
  notes: MistakeCollector,
): string | undefined {
  const value = fields[key];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && form.test(value)) return value;
  notes.at(key).add(`is ${describeValue(value)}; ${rule}`);
  return undefined;
}

function concurrencyIn({ concurrency }: Fields, notes: MistakeCollector): number | undefined {
  if (concurrency === undefined) return undefined;
  if (Number.isInteger(concurrency) && (concurrency as number) >= 2 && (concurrency as number) <= 1000)
    return concurrency as number;
  notes
    .at('concurrency')
    .add(
      `is ${describeValue(concurrency)}; it takes a whole number from 2, where an event source starts, to 1000`,
    );
  return undefined;
}

function removalIn({ removalPolicy }: Fields, notes: MistakeCollector): RemovalPolicy {
  if (removalPolicy === undefined) return RemovalPolicy.RETAIN;
  if (removalPolicy === 'destroy' || removalPolicy === 'retain') return REMOVAL[removalPolicy];
  notes.at('removalPolicy').add(`is ${describeValue(removalPolicy)}; it takes "destroy" or "retain"`);
  return RemovalPolicy.RETAIN;
}

function retentionIn({ logRetentionDays }: Fields, notes: MistakeCollector): RetentionDays {
  if (logRetentionDays === undefined) return RetentionDays.ONE_MONTH;
  const found = RETENTIONS.find((days) => days === logRetentionDays);
  if (found !== undefined) return found;
  notes
    .at('logRetentionDays')
    .add(`is ${describeValue(logRetentionDays)}; CloudWatch keeps logs for ${RETENTIONS.join(', ')} days`);
  return RetentionDays.ONE_MONTH;
}
