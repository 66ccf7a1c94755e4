import { DURATION_RULE, durationMs } from '../../core/text/duration.ts';
import { UsageError } from '../usage-error.ts';

const DAY_MS = 86_400_000;

/** `also` names what the option accepts besides durations. */
export function durationOption(name: string, text: string, also = ''): number {
  // Only options accept days: manifests and settings use Go durations, which have none.
  const days = /^(\d+)d$/.exec(text)?.[1];
  const milliseconds = days === undefined ? durationMs(text) : Number(days) * DAY_MS;
  if (milliseconds === undefined) throw new UsageError(`asya: ${name} is "${text}"; ${DURATION_RULE}${also}`);
  return milliseconds;
}

export function positiveNumberOption(name: string, text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number)))
    throw new UsageError(`asya: ${name} is "${text}"; expected a number above 0`);
  return number;
}

export function wholeNumberOption(name: string, text: string, max: number, min = 1): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < min || number > max)
    throw new UsageError(`asya: ${name} is "${text}"; expected a whole number from ${min} to ${max}`);
  return number;
}

export function choiceOption<Choice extends string>(
  name: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((one) => one === text);
  if (choice === undefined)
    throw new UsageError(`asya: ${name} is "${text}"; expected one of ${choices.join(', ')}`);
  return choice;
}
