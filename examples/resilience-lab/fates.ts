/** A handler for every fate that an envelope can have. What makes it so stands in actors.yaml, beside each name. */

interface Context {
  /** 1 at first, one more with every retry. */
  readonly attempt?: number;
}

class Flaky extends Error {}
class BadInput extends Error {}

/** Most envelopes: a value comes back, and the flow has its result. */
export function succeeds(payload: object) {
  return { ...payload, isDone: true };
}

/** The fault passes by itself: a policy with enough attempts waits it out, and nobody has to know. */
export function failsTwice(payload: object, { attempt = 1 }: Context) {
  if (attempt < 3) throw new Flaky(`attempt ${attempt} of the two that fail`);
  return { ...payload, attempt };
}

/** The fault does not pass: after its attempts the envelope fails, and waits in x-sump for a replay. */
export function neverSucceeds() {
  throw new Flaky('it is no better than the last time');
}

/** The fault is in the payload: another attempt would meet it again, so a rule allows none. Mended, it is replayed. */
export function isNotRetryable(payload: { readonly isMended?: boolean }) {
  if (payload.isMended) return payload;
  throw new BadInput('this payload will never do');
}

/** Somebody else can do better: the policy routes what is exhausted to the actor `rescue`. */
export function isRescued() {
  throw new Flaky('somebody help');
}

/** It gets the payload as it was, and what it returns counts: the envelope succeeds after all. */
export function rescue(payload: object) {
  return { ...payload, isRescued: true };
}

/** No answer within actorTimeout: the envelope fails, and this process is killed, so that nothing works on unseen. */
export function hangs(): Promise<never> {
  return new Promise(() => {});
}

/** The next attempt would come after the flow's deadline: it is not made, because nobody waits for it any more. */
export function expires() {
  throw new Flaky('later, perhaps');
}

/** The process dies in the middle of a call: to the mesh a lost connection, which a policy may retry. */
export function runtimeCrashes(payload: object, { attempt = 1 }: Context) {
  if (attempt === 1) process.exit(1);
  return { ...payload, attempt };
}

/**
 * The function itself dies, as one does that runs out of memory: nothing is decided and nothing acked, so the queue
 * delivers again. After five times the dead-letter queue takes the envelope, and x-dlq tells of it.
 */
export function killsItsFunction(): Promise<never> {
  const { AWS_LAMBDA_FUNCTION_NAME: name, FUNCTION_PID: pid } = process.env;
  // Only a function of the local mesh has said its pid, and only our own parent may be killed.
  if (name !== 'kills-its-function' || pid !== String(process.ppid)) {
    throw new BadInput('this is no function of a mesh on this machine: nothing is killed');
  }
  process.kill(process.ppid, 'SIGKILL');
  return new Promise(() => {});
}

/** A list is not one value but many: each goes on by itself. The first keeps the id, the others are its children. */
export function fansOut() {
  return [{ part: 1 }, { part: 2 }, { part: 3 }];
}

/** Nothing to say: the envelope ends here, well, with the payload that it came with. */
export function returnsNothing() {}
