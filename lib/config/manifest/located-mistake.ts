import type { Mistake, MistakeCollector } from '../../core/text/mistake.ts';

/** A field's name, or an item's index. */
export type Step = string | number;

/** Both start at 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake in a file. Its `place` is complete: `score.yaml:12:5 spec.resiliency.actorTimeout`. */
export interface LocatedMistake extends Mistake, Position {
  readonly file: string;
}

export function locatedMistake(
  file: string,
  { line, column }: Position,
  path: readonly Step[],
  problem: string,
): LocatedMistake {
  return { place: placeText(file, { line, column }, path), problem, file, line, column };
}

function placeText(file: string, { line, column }: Position, path: readonly Step[]): string {
  const position = `${file}:${line}:${column}`;
  return path.length === 0 ? position : `${position} ${pathText(path)}`;
}

function pathText(path: readonly Step[]): string {
  return path.map(stepText).join('').replace(/^\./, '');
}

/** Quotes names with special characters, so that a place is always one line. */
function stepText(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[\p{L}\p{N}_-]+$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** Finds the position of a field in its file. */
export interface Locator {
  readonly file: string;
  positionOf(path: readonly Step[]): Position;
}

/** Collects mistakes with their positions, which are looked up only when there is a mistake. */
export function locatedCollector(
  locator: Locator,
  mistakes: LocatedMistake[],
  path: readonly Step[] = [],
): MistakeCollector {
  return {
    get place() {
      return placeText(locator.file, locator.positionOf(path), path);
    },
    add: (problem) => {
      mistakes.push(locatedMistake(locator.file, locator.positionOf(path), path, problem));
    },
    at: (step) => locatedCollector(locator, mistakes, [...path, step]),
  };
}
