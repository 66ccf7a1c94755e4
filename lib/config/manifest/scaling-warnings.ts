import type { MistakeCollector } from '../../core/text/mistake.ts';
import type { ActorSpec } from './manifest.ts';

/** Warns of a setting that has no effect on Lambda. */
export function addScalingWarnings({ scaling }: ActorSpec, notes: MistakeCollector): void {
  const { batchSize, concurrency } = scaling;
  if (concurrency <= batchSize) return;
  const received = `is ${concurrency}, but batchSize is ${batchSize}`;
  const problem = `${received}: a function has at most ${batchSize} ${batchSize === 1 ? 'call' : 'calls'} at a time; raise batchSize to ${concurrency}`;
  notes.at('scaling').at('concurrency').add(problem);
}
