/** How an invocation of a function ended. Failures and crashes are values, not exceptions. */
export type InvocationEnd =
  | { readonly ok: true; readonly response: unknown }
  | { readonly ok: false; readonly problem: string };

/** Never rejects. */
export type Invoke = (event: unknown) => Promise<InvocationEnd>;
