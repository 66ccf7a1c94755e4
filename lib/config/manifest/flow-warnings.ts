import type { Flow } from '../../core/task/flow.ts';
import { durationText } from '../../core/text/duration.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import type { ActorSpec } from './manifest.ts';

/** Warns of what is valid but rarely intended: a timeout that the actors can exceed, and calls without a timeout. */
export function addFlowWarnings(
  flow: Flow,
  actors: ReadonlyMap<string, ActorSpec>,
  notes: MistakeCollector,
): void {
  const { timeoutSeconds, mcp, a2a } = flow;
  if (timeoutSeconds !== undefined) warnOfShortTimeout(flow, timeoutSeconds * 1000, actors, notes);
  else if (mcp !== undefined || a2a !== undefined) {
    const problem = 'offers the flow to callers, but the flow has no timeout: they may wait forever';
    notes.at(mcp === undefined ? 'a2a' : 'mcp').add(problem);
  }
}

function warnOfShortTimeout(
  { entrypoint, routeNext }: Flow,
  timeoutMs: number,
  actors: ReadonlyMap<string, ActorSpec>,
  notes: MistakeCollector,
): void {
  const visited = [entrypoint, ...routeNext].flatMap((name) => actors.get(name) ?? []);
  const [slowest] = visited.toSorted((a, b) => b.timeoutMs - a.timeoutMs);
  const sumMs = visited.reduce((sum, actor) => sum + actor.timeoutMs, 0);
  const received = `is ${timeoutMs / 1000} (${durationText(timeoutMs)})`;
  if (slowest !== undefined && timeoutMs < slowest.timeoutMs) {
    const limit = durationText(slowest.timeoutMs);
    const problem = `${received}, below the actorTimeout of "${slowest.name}" (${limit}): a call of that actor can never use its whole timeout`;
    notes.at('timeout').add(problem);
  } else if (timeoutMs < sumMs) {
    const parts = visited.map(({ name, timeoutMs: own }) => `${name} ${durationText(own)}`).join(', ');
    const problem = `${received}, below the sum of its actors' actorTimeouts, ${durationText(sumMs)} (${parts}): slow calls can miss it`;
    notes.at('timeout').add(problem);
  }
}
