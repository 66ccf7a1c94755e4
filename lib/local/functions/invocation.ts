/** How an invocation of a function ended. Whatever went wrong is a value: a crash is nobody's exception here. */
export type InvocationEnd =
  | { readonly ok: true; readonly response: unknown }
  | { readonly ok: false; readonly problem: string };

/** Never rejects. */
export type Invoke = (event: unknown) => Promise<InvocationEnd>;
