/** Pub/Sub's own limits for the attributes of a message. */
const MOST_ATTRIBUTES = 100;
export const LONGEST_ATTRIBUTE_BYTES = 1024;

type Attributes = Readonly<Record<string, string>>;

/** Both, the added ones where there is room: a message with too many attributes would be refused for ever. */
export function withAttributes(kept: Attributes, added: Attributes): Attributes {
  const isReplaced = (name: string) => Object.hasOwn(kept, name);
  const room = MOST_ATTRIBUTES - Object.keys(kept).length;
  const names = Object.keys(added);
  const fitting = names.filter((name) => !isReplaced(name)).slice(0, Math.max(0, room));
  const chosen = names.filter((name) => isReplaced(name) || fitting.includes(name));
  return { ...kept, ...Object.fromEntries(chosen.map((name) => [name, added[name] ?? ''])) };
}
