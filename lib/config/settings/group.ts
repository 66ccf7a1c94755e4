import { describeValue } from '../../core/text/describe-value.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import type { Group, ReadValues, Setting, Values } from './setting.ts';
import type { Environment } from './variables.ts';
import { withoutPassword } from './without-password.ts';

/**
 * The values of a group's variables and defaults. A value that is not valid is reported as a mistake, and its default
 * takes its place, so that reading can go on and report every mistake at once.
 */
export function readGroup<G extends Group>(group: G, env: Environment, mistakes: Mistake[]): ReadValues<G> {
  const entries = Object.entries(group).flatMap(([key, setting]) => {
    const value = readSetting(setting, env[setting.variable], mistakes);
    return value === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries);
}

function readSetting(setting: Setting<unknown>, text: string | undefined, mistakes: Mistake[]): unknown {
  const reading = text === undefined ? undefined : setting.read(text);
  if (reading !== undefined && 'value' in reading) return reading.value;
  if (reading !== undefined) {
    const received = setting.isSecret
      ? `has ${text?.length} characters`
      : `is ${describeValue(withoutPassword(text ?? ''))}`;
    mistakes.push({ place: setting.variable, problem: `${received}; ${reading.problem}` });
  }
  const { defaultText } = setting;
  const byDefault = defaultText === undefined ? undefined : setting.read(defaultText);
  return byDefault !== undefined && 'value' in byDefault ? byDefault.value : undefined;
}

/** The inverse of reading: variables that yield these values. Defaults are omitted. */
export function writeGroup<G extends Group>(
  group: G,
  values: { readonly [K in keyof Values<G>]?: Values<G>[K] | undefined },
): Record<string, string> {
  const byKey = values as Readonly<Record<string, unknown>>;
  const entries = Object.entries(group).flatMap(([key, setting]) => {
    const text = textOf(setting, byKey[key]);
    return text === undefined || text === setting.defaultText ? [] : [[setting.variable, text]];
  });
  return Object.fromEntries(entries);
}

/** A setting with a default is switched off by an empty variable, if that means something. */
function textOf(setting: Setting<unknown>, value: unknown): string | undefined {
  if (value !== undefined) return setting.write(value);
  return setting.presence === 'default' && setting.emptyMeans !== undefined ? '' : undefined;
}

/** The settings of several groups by variable, for the docs and for suggestions. */
export function settingsByVariable(groups: readonly Group[]): Readonly<Record<string, Setting<unknown>>> {
  const settings = groups.flatMap((group) => Object.values(group));
  return Object.fromEntries(settings.map((setting) => [setting.variable, setting]));
}

/** Reports variables with this prefix that are not in the table: they are likely misspelled. */
export function reportUnknownVariables(
  prefix: string,
  settings: Readonly<Record<string, unknown>>,
  env: Environment,
  mistakes: Mistake[],
): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith(prefix) && !Object.hasOwn(settings, name)) {
      mistakes.push({
        place: name,
        problem: `is not a known setting${suggestion(name, Object.keys(settings))}`,
      });
    }
  }
}

export function hasMistake(mistakes: readonly Mistake[], variable: string): boolean {
  return mistakes.some(({ place }) => place === variable);
}
