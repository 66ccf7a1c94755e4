/** The last actor of the route: the returned value is the flow's result. */
export async function shout({ greeting }: { readonly greeting: string }) {
  return { greeting: `${greeting.toUpperCase()}!` };
}
