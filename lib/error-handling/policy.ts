import { DEFAULT_ERRORS_TOPIC, PIPELINE_DEFAULTS, type PipelineSettings } from '../core/pipeline/pipeline.ts';
import { describeValue } from '../core/text/describe-value.ts';
import { type Mistake, type MistakeCollector, mistakeCollector } from '../core/text/mistake.ts';

/** What an operator can configure. `lib/core/pipeline/pipeline.ts` contains the decisions. */
export interface ErrorHandlingSettings extends PipelineSettings {
  /** The topic that escalated messages are published to. */
  readonly errorsTopic: string;
}

export const DEFAULT_SETTINGS: ErrorHandlingSettings = {
  ...PIPELINE_DEFAULTS,
  errorsTopic: DEFAULT_ERRORS_TOPIC,
};

export type SettingsReading =
  | { readonly settings: ErrorHandlingSettings }
  /** All mistakes, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings. An absent or empty variable has its default; an invalid value is a mistake. */
export function settingsFromEnvironment(environment: Environment): SettingsReading {
  const mistakes: Mistake[] = [];
  const read = <T>(name: string, otherwise: T, from: (text: string, notes: MistakeCollector) => T): T => {
    const text = environment[name];
    return text === undefined || text === '' ? otherwise : from(text, mistakeCollector(mistakes, name));
  };
  const settings = {
    delaysSeconds: read('RETRY_MESSAGE_DELAYS_SECONDS', DEFAULT_SETTINGS.delaysSeconds, delaysFrom),
    expireAfterHours: read('EXPIRED_MESSAGE_AFTER_HOURS', DEFAULT_SETTINGS.expireAfterHours, hoursFrom),
    errorsTopic: read('ERRORS_TOPIC', DEFAULT_SETTINGS.errorsTopic, topicFrom),
  };
  const [first, ...others] = mistakes;
  return first === undefined ? { settings } : { mistakes: [first, ...others] };
}

/** The limit of Cloud Tasks, which the delayer uses. */
const MAX_DELAY_SECONDS = 30 * 86_400;
const DELAYS_RULE = 'expected a list of seconds such as [1,1,2,3,7,30], or [] for no retries';

function delaysFrom(text: string, notes: MistakeCollector): readonly number[] {
  const delays = listFrom(text);
  if (delays === undefined) {
    notes.add(`is ${describeValue(text)}; ${DELAYS_RULE}`);
    return [];
  }
  for (const [index, delay] of delays.entries()) {
    if (!(typeof delay === 'number' && delay >= 0 && delay <= MAX_DELAY_SECONDS))
      notes
        .at(index)
        .add(`is ${describeValue(delay)}, expected seconds from 0 to ${MAX_DELAY_SECONDS} (30 days)`);
  }
  return delays as readonly number[];
}

/** A JSON array. The brackets are optional. */
function listFrom(text: string): readonly unknown[] | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  try {
    const value: unknown = JSON.parse(trimmed.startsWith('[') ? trimmed : `[${trimmed}]`);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Beyond this, milliseconds would no longer be exact integers. */
const MAX_HOURS = 1_000_000;

function hoursFrom(text: string, notes: MistakeCollector): number {
  const hours = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(hours > 0 && hours <= MAX_HOURS))
    notes.add(`is ${describeValue(text)}; expected hours above 0 such as 36 or 0.5, at most ${MAX_HOURS}`);
  return hours;
}

function topicFrom(text: string, notes: MistakeCollector): string {
  if (/\s/.test(text))
    notes.add(`is ${describeValue(text)}; expected the name of a topic, such as "${DEFAULT_ERRORS_TOPIC}"`);
  return text;
}
