/** Runs the function at the first call only. Later calls return the first call's result. */
export function once<Args extends readonly unknown[], Result>(
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  let isCalled = false;
  let result: Result | undefined;
  return (...args) => {
    if (!isCalled) {
      isCalled = true;
      result = run(...args);
    }
    return result as Result;
  };
}
