class NoName extends Error {}

/** The returned value is the payload of the next actor. */
export function greet({ name }: { readonly name?: string }) {
  // The rules in actors.yaml choose a policy by error type.
  if (!name) throw new NoName('the payload has no "name"');
  return { greeting: `Hello, ${name}` };
}
