import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { isFields } from '../../core/text/fields.ts';

type InputSchema = Readonly<Record<string, unknown>>;

interface InputError {
  readonly place: string;
  readonly problem: string;
}

const MAX_ERRORS = 20;
const MAX_RULE = 120;
/** Errors of these keywords only repeat that something inside is invalid; the inner error is reported as well. */
const CONTAINER_KEYWORDS = new Set([
  'properties',
  'items',
  'prefixItems',
  'allOf',
  '$ref',
  'additionalProperties',
  'dependentSchemas',
]);

const validators = new WeakMap<InputSchema, Validator>();

/**
 * Validates a value. The errors quote the schema and never the value: a place contains the field names that the schema
 * defines, and `*` for others.
 */
export function checkInput(schema: InputSchema, value: unknown): readonly InputError[] {
  let validator = validators.get(schema);
  if (validator === undefined) {
    validator = new Validator(schema as Schema, '2020-12', false);
    validators.set(schema, validator);
  }
  const { valid, errors } = validator.validate(value);
  if (valid) return [];
  const known = namesIn(schema);
  const deepest = errors.filter(({ keyword }) => !CONTAINER_KEYWORDS.has(keyword));
  return (deepest.length === 0 ? errors : deepest)
    .slice(0, MAX_ERRORS)
    .map((unit) => ({ place: placeOf(unit, known), problem: problemOf(unit, schema) }));
}

function placeOf({ instanceLocation }: OutputUnit, known: ReadonlySet<string>): string {
  const steps = pointerSteps(instanceLocation);
  return steps.map((step) => `/${/^\d+$/.test(step) || known.has(step) ? step : '*'}`).join('');
}

function problemOf({ keyword, keywordLocation }: OutputUnit, schema: InputSchema): string {
  const rule = ruleAt(schema, pointerSteps(keywordLocation));
  if (keyword === 'false') return 'is not allowed here';
  if (keyword === 'required') return `requires ${ruleText(rule)}`;
  return rule === undefined ? `violates "${keyword}"` : `violates "${keyword}": ${ruleText(rule)}`;
}

function ruleText(rule: unknown): string {
  const text = JSON.stringify(rule) ?? '';
  return text.length <= MAX_RULE ? text : `${text.slice(0, MAX_RULE)}...`;
}

function ruleAt(schema: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((here, step) => {
    if (Array.isArray(here)) return here[Number(step)];
    return isFields(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  }, schema);
}

function pointerSteps(pointer: string): readonly string[] {
  const steps = pointer.replace(/^#?\/?/, '').split('/');
  return steps.filter((step) => step !== '').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** All property names that the schema defines. */
function namesIn(schema: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (!isFields(value)) return;
    const { properties } = value;
    if (isFields(properties)) for (const name of Object.keys(properties)) names.add(name);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(schema);
  return names;
}
