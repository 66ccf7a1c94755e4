import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { SqsClientName } from '../../lib/config/plan/function-plan.ts';
import { MAX_WINDOW_SECONDS } from '../../lib/config/plan/settings-limits.ts';
import type { ArchiveChoice } from '../../lib/core/failure/archiving.ts';
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

/** One entry of `environments` in cdk.json: the target of a deployment and its settings. */
export interface DeployEnvironment {
  /** Name of the environment, a DNS label. It is part of all resource names, so several environments can share an account. */
  readonly name: string;
  /**
   * AWS account id, 12 digits.
   * @default the account of the current credentials
   */
  readonly account?: string;
  /**
   * AWS region, for example `eu-central-1`.
   * @default the region of the current credentials
   */
  readonly region?: string;
  /** What happens to the archive, the failure table, the logs and the secrets when the stack is deleted. */
  readonly removalPolicy: RemovalPolicy;
  /** How long logs are kept. */
  readonly logRetention: RetentionDays;
  /**
   * Email address that is subscribed to the alarm topic. The recipient has to confirm once.
   * @default no notifications
   */
  readonly alarmEmail?: string;
  /**
   * Upper limit for the concurrent executions of each function that consumes a queue, from 2 to 1000.
   * @default only each actor's `maxReplicas` applies
   */
  readonly concurrency?: number;
  /**
   * Maximum number of concurrent executions of x-sink, x-sump and x-dlq each, from 2 to 1000.
   * @default 10
   */
  readonly crewConcurrency?: number;
  /**
   * Which ended envelopes are archived; see `ActorMeshProps`.
   * @default 'all'
   */
  readonly archive?: ArchiveChoice;
  /**
   * How long x-sink collects ended envelopes; see `ActorMeshProps`. In cdk.json `archiveWindowSeconds`, from 0 to 300.
   * @default ended envelopes are not collected
   */
  readonly archiveWindow?: Duration;
  /**
   * The client of SQS in the functions: `slim`, which starts faster, or `sdk`, the AWS SDK.
   * @default 'slim'
   */
  readonly sqsClient?: SqsClientName;
  /**
   * Options of the gateway.
   * @default the mesh has no gateway
   */
  readonly gateway?: GatewayChoices;
}

const FIELDS = [
  'account',
  'region',
  'removalPolicy',
  'logRetentionDays',
  'alarmEmail',
  'concurrency',
  'crewConcurrency',
  'archive',
  'archiveWindowSeconds',
  'sqsClient',
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

/** Reads one of the `environments` in cdk.json. Returns all mistakes at once. */
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
    const names = Object.keys(known);
    const meant = typeof name === 'string' ? suggestion(name, names) : '';
    notes
      .at('env')
      .add(
        `is ${describeValue(name)}; "environments" in cdk.json has: ${names.join(', ') || 'none'}${meant}`,
      );
    return undefined;
  }
  const here = notes.at('environments').at(name);
  if (!NAME.test(name))
    here.add('is not a valid name; use a-z, 0-9 and "-", without "-" at the start or end');
  const fields = known[name];
  if (!isFields(fields)) {
    here.add(`is ${describeValue(fields)}; expected an object with any of ${FIELDS.join(', ')}`);
    return undefined;
  }
  addUnknownKeys(here, fields, FIELDS);
  const account = textIn(fields, 'account', /^\d{12}$/, 'expected 12 digits in quotes', here);
  const region = textIn(
    fields,
    'region',
    /^[a-z]{2}(-[a-z]+)+-\d$/,
    'expected a region like "eu-central-1"',
    here,
  );
  const alarmEmail = textIn(fields, 'alarmEmail', /^[^@\s]+@[^@\s]+$/, 'expected an email address', here);
  const concurrency = concurrencyIn(fields, 'concurrency', here);
  const crewConcurrency = concurrencyIn(fields, 'crewConcurrency', here);
  const archive = choiceIn(fields, 'archive', ['all', 'failed'], here);
  const archiveWindow = archiveWindowIn(fields, here);
  const sqsClient = choiceIn(fields, 'sqsClient', ['slim', 'sdk'], here);
  const gateway = readGateway(fields['gateway'], here.at('gateway'));
  return {
    name,
    ...defined({ account, region }),
    removalPolicy: removalIn(fields, here),
    logRetention: retentionIn(fields, here),
    ...defined({ alarmEmail, concurrency, crewConcurrency, archive, archiveWindow, sqsClient, gateway }),
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

function concurrencyIn(
  fields: Fields,
  key: 'concurrency' | 'crewConcurrency',
  notes: MistakeCollector,
): number | undefined {
  const value = fields[key];
  if (value === undefined) return undefined;
  if (Number.isInteger(value) && (value as number) >= 2 && (value as number) <= 1000) return value as number;
  notes
    .at(key)
    .add(
      `is ${describeValue(value)}; expected a whole number from 2, the minimum of an SQS event source, to 1000`,
    );
  return undefined;
}

/** One of the two words. */
function choiceIn<Choice extends string>(
  fields: Fields,
  key: string,
  choices: readonly [Choice, Choice],
  notes: MistakeCollector,
): Choice | undefined {
  const value = fields[key];
  const choice = choices.find((one) => one === value);
  if (value !== undefined && choice === undefined)
    notes.at(key).add(`is ${describeValue(value)}; expected "${choices[0]}" or "${choices[1]}"`);
  return choice;
}

function archiveWindowIn(fields: Fields, notes: MistakeCollector): Duration | undefined {
  const { archiveWindowSeconds: seconds } = fields;
  if (seconds === undefined) return undefined;
  if (Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= MAX_WINDOW_SECONDS)
    return Duration.seconds(Number(seconds));
  notes
    .at('archiveWindowSeconds')
    .add(`is ${describeValue(seconds)}; expected a whole number from 0 to ${MAX_WINDOW_SECONDS}`);
  return undefined;
}

function removalIn({ removalPolicy }: Fields, notes: MistakeCollector): RemovalPolicy {
  if (removalPolicy === undefined) return RemovalPolicy.RETAIN;
  if (removalPolicy === 'destroy' || removalPolicy === 'retain') return REMOVAL[removalPolicy];
  notes.at('removalPolicy').add(`is ${describeValue(removalPolicy)}; expected "destroy" or "retain"`);
  return RemovalPolicy.RETAIN;
}

function retentionIn({ logRetentionDays }: Fields, notes: MistakeCollector): RetentionDays {
  if (logRetentionDays === undefined) return RetentionDays.ONE_MONTH;
  const found = RETENTIONS.find((days) => days === logRetentionDays);
  if (found !== undefined) return found;
  notes
    .at('logRetentionDays')
    .add(`is ${describeValue(logRetentionDays)}; CloudWatch supports ${RETENTIONS.join(', ')}`);
  return RetentionDays.ONE_MONTH;
}
