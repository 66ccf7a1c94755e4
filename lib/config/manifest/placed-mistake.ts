import type { Mistake, MistakeCollector } from '../../core/text/mistake.ts';

/** A field's name, or an item's index. */
export type Step = string | number;

/** Both counted from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake in a file. Its `place` says it all: `score.yaml:12:5 spec.resiliency.actorTimeout`. */
export interface PlacedMistake extends Mistake, Position {
  readonly file: string;
}

export function placedMistake(
  file: string,
  { line, column }: Position,
  path: readonly Step[],
  problem: string,
): PlacedMistake {
  return { place: placeText(file, { line, column }, path), problem, file, line, column };
}

function placeText(file: string, { line, column }: Position, path: readonly Step[]): string {
  const position = `${file}:${line}:${column}`;
  return path.length === 0 ? position : `${position} ${pathText(path)}`;
}

function pathText(path: readonly Step[]): string {
  return path.map(stepText).join('').replace(/^\./, '');
}

/** Names that are no words are quoted: a place is one line, whatever somebody called a field. */
function stepText(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[\p{L}\p{N}_-]+$/u.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}

/** Whoever knows where in a file something stands. */
export interface Placing {
  readonly file: string;
  positionOf(path: readonly Step[]): Position;
}

/** Notes whose places are looked up in the text when there is something to note. */
export function placedNotes(
  placing: Placing,
  mistakes: PlacedMistake[],
  path: readonly Step[] = [],
): MistakeCollector {
  return {
    get place() {
      return placeText(placing.file, placing.positionOf(path), path);
    },
    add: (problem) => {
      mistakes.push(placedMistake(placing.file, placing.positionOf(path), path, problem));
    },
    at: (step) => placedNotes(placing, mistakes, [...path, step]),
  };
}
