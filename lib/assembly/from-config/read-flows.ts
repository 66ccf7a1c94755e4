import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readFlows } from '../../config/manifest/flow-document.ts';
import type { Flow } from '../../core/task/flow.ts';
import { type Mistake, mistakeCollector, mistakesText } from '../../core/text/mistake.ts';

/** The flows of one file, as they were checked with their mesh. Throws in words for the operator. */
export function flowsFromFile(path: string): readonly Flow[] {
  const mistakes: Mistake[] = [];
  const readings = readFlows(parsed(path), mistakeCollector(mistakes, path));
  if (mistakes.length > 0) throw new Error(`asya: mistakes in the flows\n${mistakesText(mistakes)}`);
  return readings.map(({ flow }) => flow);
}

function parsed(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(
      `asya: ASYA_GATEWAY_FLOWS_FILE is "${path}", which cannot be read: ${(error as Error).message}`,
    );
  }
}
