class NoName extends Error {}

/** What it returns is the payload of the next actor. */
export function greet({ name }: { readonly name?: string }) {
  // The error's type chooses the policy: see the rules in actors.yaml.
  if (!name) throw new NoName('nobody to greet: the payload has no "name"');
  return { greeting: `Hello, ${name}` };
}
