/** The last of its route: what it returns is the flow's result. */
export async function shout({ greeting }: { readonly greeting: string }) {
  return { greeting: `${greeting.toUpperCase()}!` };
}
