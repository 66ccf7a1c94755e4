class NoName extends Error {}

/** Receives the payload. The returned value is the payload of the next actor. */
export function greet({ name }: { readonly name?: string }) {
  if (!name) throw new NoName('the payload has no "name"');
  return { greeting: `Hello, ${name}` };
}
