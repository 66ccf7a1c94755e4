import { score } from '../mesh/score.ts';

/** What a handler written by hand does with an envelope: calls the function, and advances the route. */
export async function nextMessage(body: string): Promise<string> {
  const envelope = JSON.parse(body);
  const { prev, curr, next } = envelope.route;
  return JSON.stringify({
    ...envelope,
    payload: await score(envelope.payload),
    route: { prev: [...prev, curr], curr: next[0] ?? '', next: next.slice(1) },
    status: { ...envelope.status, phase: 'pending', actor: curr, updated_at: new Date().toISOString() },
  });
}
