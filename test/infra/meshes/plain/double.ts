export const double = (payload: { readonly n: number }) => ({ n: payload.n * 2 });
