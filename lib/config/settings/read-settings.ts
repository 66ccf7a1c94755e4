import { describeValue } from '../../core/text/describe-value.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import type { Setting, SettingTable } from './setting.ts';
import type { Environment } from './variables.ts';
import { withoutPassword } from './without-password.ts';

export type SettingValues<Table extends SettingTable> = {
  readonly [Name in keyof Table]: (Table[Name] extends Setting<infer T> ? T : never) | undefined;
};

/** Every variable's value, or its default's; undefined where it has neither or a mistake was noted. */
export function readSettings<Table extends SettingTable>(
  table: Table,
  env: Environment,
  mistakes: Mistake[],
): SettingValues<Table> {
  const entries = Object.entries(table).map(([name, setting]) => {
    const text = env[name] ?? setting.fallback;
    if (text === undefined) return [name, undefined];
    const reading = setting.read(text);
    if ('value' in reading) return [name, reading.value];
    const came = setting.isSecret
      ? `has ${text.length} characters`
      : `is ${describeValue(withoutPassword(text))}`;
    mistakes.push({ place: name, problem: `${came}; ${reading.problem}` });
    return [name, undefined];
  });
  return Object.fromEntries(entries);
}

/** A variable of that beginning that the table does not know was mistyped. */
export function noteUnknownVariables(
  prefix: string,
  table: SettingTable,
  env: Environment,
  mistakes: Mistake[],
): void {
  for (const name of Object.keys(env)) {
    if (name.startsWith(prefix) && !Object.hasOwn(table, name)) {
      mistakes.push({ place: name, problem: `is no setting${suggestion(name, Object.keys(table))}` });
    }
  }
}
