import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readFlows } from '../../config/manifest/flow-document.ts';
import type { Flow } from '../../core/task/flow.ts';
import { type Mistake, mistakeCollector, mistakesText } from '../../core/text/mistake.ts';

/** Reads and validates the flows of one file. Throws an error with a message for the operator. */
export function flowsFromFile(path: string): readonly Flow[] {
  const mistakes: Mistake[] = [];
  const readings = readFlows(parsed(path), mistakeCollector(mistakes, path));
  if (mistakes.length > 0) throw new Error(`asya: invalid flows\n${mistakesText(mistakes)}`);
  return readings.map(({ flow }) => flow);
}

function parsed(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`asya: ASYA_GATEWAY_FLOWS_FILE "${path}" cannot be read: ${(error as Error).message}`);
  }
}
