import type { Crew } from '../../core/delivery/actor.ts';
import { queueName } from './queue-name.ts';

/** The role of an actor with this name in the built-in crew. Undefined for any other name. */
export function crewRole(name: string, sump: string, namespace: string | undefined): Crew | undefined {
  switch (name) {
    case 'x-sink':
      return { role: 'sink', sump };
    case 'x-sump':
      return { role: 'sump' };
    case 'x-dlq':
      return { role: 'dlq', queuePrefix: queueName('', namespace) };
    default:
      return undefined;
  }
}
