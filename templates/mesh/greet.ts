class NoName extends Error {}

/** From payload to payload: what it returns goes on to the next actor of the flow. */
export function greet({ name }: { readonly name?: string }) {
  if (!name) throw new NoName('the payload has no "name"');
  return { greeting: `Hello, ${name}` };
}
