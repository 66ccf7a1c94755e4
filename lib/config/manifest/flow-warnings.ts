import type { Flow } from '../../core/task/flow.ts';
import { durationText } from '../../core/text/duration.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import type { ActorSpec } from './manifest.ts';

/** What may be meant so, but seldom is: a timeout that its own actors can break, and callers who may wait for ever. */
export function noteFlowWarnings(
  flow: Flow,
  actors: ReadonlyMap<string, ActorSpec>,
  notes: MistakeCollector,
): void {
  const { timeoutSeconds, mcp, a2a } = flow;
  if (timeoutSeconds !== undefined) noteShortTimeout(flow, timeoutSeconds * 1000, actors, notes);
  else if (mcp !== undefined || a2a !== undefined) {
    const problem = `offers "${flow.name}" to callers, and the flow has no timeout: they may wait for ever`;
    notes.at(mcp === undefined ? 'a2a' : 'mcp').add(problem);
  }
}

function noteShortTimeout(
  { entrypoint, routeNext }: Flow,
  timeoutMs: number,
  actors: ReadonlyMap<string, ActorSpec>,
  notes: MistakeCollector,
): void {
  const visited = [entrypoint, ...routeNext].flatMap((name) => actors.get(name) ?? []);
  const [slowest] = visited.toSorted((a, b) => b.timeoutMs - a.timeoutMs);
  const sumMs = visited.reduce((sum, actor) => sum + actor.timeoutMs, 0);
  const came = `is ${timeoutMs / 1000} (${durationText(timeoutMs)})`;
  if (slowest !== undefined && timeoutMs < slowest.timeoutMs) {
    const limit = durationText(slowest.timeoutMs);
    const problem = `${came}, below the actorTimeout of "${slowest.name}" alone (${limit}): a call there can never have its full time`;
    notes.at('timeout').add(problem);
  } else if (timeoutMs < sumMs) {
    const parts = visited.map(({ name, timeoutMs: own }) => `${name} ${durationText(own)}`).join(', ');
    const problem = `${came}, below the sum of its actors' actorTimeouts, ${durationText(sumMs)} (${parts}): slow calls can miss it`;
    notes.at('timeout').add(problem);
  }
}
