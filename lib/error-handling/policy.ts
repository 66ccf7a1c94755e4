import { DEFAULT_ERRORS_TOPIC, PIPELINE_DEFAULTS, type PipelineSettings } from '../core/pipeline/pipeline.ts';
import { shownValue } from '../core/text/complaint.ts';
import { type Mistake, type Notes, notesInto } from '../core/text/mistake.ts';

/** What an operator can set. What is decided with it stands in `lib/core/pipeline/pipeline.ts`. */
export interface ErrorHandlingSettings extends PipelineSettings {
  readonly errorsTopic: string;
}

export const DEFAULT_SETTINGS: ErrorHandlingSettings = {
  ...PIPELINE_DEFAULTS,
  errorsTopic: DEFAULT_ERRORS_TOPIC,
};

export type SettingsReading =
  | { readonly settings: ErrorHandlingSettings }
  /** Every mistake there is, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that is not set, or empty, has its default; a wrong value is a mistake. */
export function settingsFromEnvironment(environment: Environment): SettingsReading {
  const mistakes: Mistake[] = [];
  const read = <T>(name: string, otherwise: T, from: (text: string, notes: Notes) => T): T => {
    const text = environment[name];
    return text === undefined || text === '' ? otherwise : from(text, notesInto(mistakes, name));
  };
  const settings = {
    delaysSeconds: read('RETRY_MESSAGE_DELAYS_SECONDS', DEFAULT_SETTINGS.delaysSeconds, delaysFrom),
    expireAfterHours: read('EXPIRED_MESSAGE_AFTER_HOURS', DEFAULT_SETTINGS.expireAfterHours, hoursFrom),
    errorsTopic: read('ERRORS_TOPIC', DEFAULT_SETTINGS.errorsTopic, topicFrom),
  };
  const [first, ...others] = mistakes;
  return first === undefined ? { settings } : { mistakes: [first, ...others] };
}

/** Cloud Tasks, which the delayer stands on, plans no further ahead. */
const MAX_DELAY_SECONDS = 30 * 86_400;
const DELAYS_RULE = 'it takes seconds like [1,1,2,3,7,30], or [] for no retries';

function delaysFrom(text: string, notes: Notes): readonly number[] {
  const delays = listFrom(text);
  if (delays === undefined) {
    notes.add(`is ${shownValue(text)}; ${DELAYS_RULE}`);
    return [];
  }
  for (const [index, delay] of delays.entries()) {
    if (!(typeof delay === 'number' && delay >= 0 && delay <= MAX_DELAY_SECONDS))
      notes.at(index).add(`is ${shownValue(delay)}, not seconds from 0 to ${MAX_DELAY_SECONDS} (30 days)`);
  }
  return delays as readonly number[];
}

/** A JSON array; its brackets may be left out. */
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

/** More would be no whole number of milliseconds any more. */
const MAX_HOURS = 1_000_000;

function hoursFrom(text: string, notes: Notes): number {
  const hours = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (!(hours > 0 && hours <= MAX_HOURS))
    notes.add(`is ${shownValue(text)}; it takes hours above 0 like 36 or 0.5, at most ${MAX_HOURS}`);
  return hours;
}

function topicFrom(text: string, notes: Notes): string {
  if (/\s/.test(text))
    notes.add(`is ${shownValue(text)}; expected the name of a topic, such as "${DEFAULT_ERRORS_TOPIC}"`);
  return text;
}
