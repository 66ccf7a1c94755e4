const ADVICE: readonly (readonly [error: RegExp, advice: string])[] = [
  [
    /^(ResourceNotFoundException|ParameterNotFound)\b/,
    'create it in the region of the actor, or fix its name in the manifest',
  ],
  [
    /^\w*AccessDenied/,
    'allow the role of the sidecar to read and decrypt it; a deployment grants this for the secrets in the manifest',
  ],
  [/^InvalidRequestException\b/, 'check whether it is scheduled for deletion'],
];

/** The problem of a secret that cannot be read, with what to do. Unchanged for errors that pass, such as throttling. */
export function withSecretAdvice(problem: string): string {
  const found = ADVICE.find(([error]) => error.test(problem));
  return found === undefined ? problem : `${problem}; ${found[1]}`;
}
