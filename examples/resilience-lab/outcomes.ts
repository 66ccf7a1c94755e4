/** One handler for each outcome of an envelope. The policies that lead to it are in actors.yaml. */

interface Context {
  /** 1 for the first call, 2 for the first retry. */
  readonly attempt?: number;
}

class Flaky extends Error {}
class BadInput extends Error {}

/** The normal case: the returned value is the flow's result. */
export function succeeds(payload: object) {
  return { ...payload, isDone: true };
}

/** A temporary error: the policy has enough attempts for a success. */
export function failsTwice(payload: object, { attempt = 1 }: Context) {
  if (attempt < 3) throw new Flaky(`attempt ${attempt} fails; the third succeeds`);
  return { ...payload, attempt };
}

/** A permanent error: after all attempts the envelope fails. It can be replayed. */
export function neverSucceeds() {
  throw new Flaky('fails at every attempt');
}

/** An invalid payload: a retry cannot help, so a rule disables it. A replay with a fixed payload succeeds. */
export function isNotRetryable(payload: { readonly isFixed?: boolean }) {
  if (payload.isFixed) return payload;
  throw new BadInput('the payload is not valid');
}

/** When the attempts are used up, the policy routes the envelope to the actor `rescue`. */
export function isRescued() {
  throw new Flaky('fails at every attempt');
}

/** Receives the original payload. The envelope succeeds with what it returns. */
export function rescue(payload: object) {
  return { ...payload, isRescued: true };
}

/** Does not answer within actorTimeout: the envelope fails, and the runtime is killed so that the call cannot continue. */
export function hangs(): Promise<never> {
  return new Promise(() => {});
}

/** A retry would arrive after the flow's deadline, so it is not sent. */
export function expires() {
  throw new Flaky('fails at every attempt');
}

/** The process exits during a call. The sidecar sees a lost connection, which a policy can retry. */
export function runtimeCrashes(payload: object, { attempt = 1 }: Context) {
  if (attempt === 1) process.exit(1);
  return { ...payload, attempt };
}

/**
 * The function crashes, as if it ran out of memory: nothing is decided or acknowledged, so the queue delivers again.
 * After five deliveries the dead-letter queue receives the envelope, and x-dlq records it as a failure.
 */
export function killsItsFunction(): Promise<never> {
  const { AWS_LAMBDA_FUNCTION_NAME: name, FUNCTION_PID: pid } = process.env;
  // Only functions of the local mesh set FUNCTION_PID, and only the parent process may be killed.
  if (name !== 'kills-its-function' || pid !== String(process.ppid)) {
    throw new BadInput('not a function of a local mesh: nothing is killed');
  }
  process.kill(process.ppid, 'SIGKILL');
  return new Promise(() => {});
}

/** A list is a fan-out: each item is sent separately. The first keeps the id, the others are its children. */
export function fansOut() {
  return [{ part: 1 }, { part: 2 }, { part: 3 }];
}

/** Without a value the envelope succeeds here, with its original payload. */
export function returnsNothing() {}
