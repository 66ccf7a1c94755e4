import { isReservedName, isRoutableName } from '../../../core/envelope/actor-name.ts';
import type { Mistake } from '../../../core/text/mistake.ts';
import { actorName, flag, type Kind, listOf, oneOf, wholeNumber } from '../kinds.ts';
import { computed, optional, setting } from '../setting.ts';
import type { Environment } from '../variables.ts';

const routableActor: Kind<string> = {
  ...actorName,
  read: (text) => {
    const reading = actorName.read(text);
    if ('problem' in reading || isRoutableName(text)) return reading;
    return { problem: 'a route cannot contain a crew actor, whose name starts with "x-"' };
  },
};
const routableActors = listOf(routableActor);

const routableActorSet: Kind<ReadonlySet<string>> = {
  takes: routableActors.takes,
  read: (text) => {
    const reading = routableActors.read(text);
    return 'value' in reading ? { value: new Set(reading.value) } : reading;
  },
  write: (names) => routableActors.write([...names]),
};

/** In the configuration: `actor`. */
export const ACTOR = {
  name: computed('ASYA_ACTOR_NAME', actorName, {
    about: 'Name of the actor that the sidecar serves. Required.',
    default: '-',
  }),
  sink: setting('ASYA_ACTOR_SINK', actorName, {
    about: 'Actor at the end of every route.',
    default: 'x-sink',
  }),
  isEnd: setting('ASYA_IS_END_ACTOR', flag, {
    about: 'This actor ends the route: its responses are discarded.',
    default: 'false',
  }),
  fanOut: setting('ASYA_FANOUT', oneOf('array', 'never'), {
    about:
      '`array`: if a handler returns an array, each item continues as a separate envelope. `never`: an array is one value.',
    default: 'array',
  }),
  maxHops: setting('ASYA_MAX_HOPS', wholeNumber(1), {
    about: 'Maximum number of actors that an envelope may visit. The limit stops loops.',
    default: '100',
  }),
  routeAllow: optional('ASYA_ROUTE_ALLOW', routableActorSet, {
    about: 'Actors that a handler may put into the route.',
    unset: 'any actor',
    emptyMeans: 'no actor',
  }),
};

/** The name, or an empty one if there is a mistake. */
export function requiredActorName(env: Environment, name: string | undefined, mistakes: Mistake[]): string {
  if (env[ACTOR.name.variable] === undefined) {
    const problem = 'is not set; expected the name of the actor, for example "score"';
    mistakes.push({ place: ACTOR.name.variable, problem });
  }
  return name ?? '';
}

/** With itself as the sink, an actor would receive its own failures again and again. */
export function checkSink(sink: string, actor: string, mistakes: Mistake[]): void {
  if (sink !== actor || isReservedName(actor)) return;
  const problem = `is "${sink}", which is this actor; expected the actor at the end of the route`;
  mistakes.push({ place: ACTOR.sink.variable, problem });
}
