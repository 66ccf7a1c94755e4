import { expect, test } from 'vitest';
import { gatherer } from '../../../lib/adapters/pubsub/gatherer.ts';
import type { Reply } from '../../../lib/ports/reply.ts';

const OK: Reply = { ok: true };

function aService() {
  const requests: string[][] = [];
  const answers: ((reply: Reply) => void)[] = [];
  return {
    requests,
    request: (items: readonly string[]) => {
      requests.push([...items]);
      return new Promise<Reply>((resolve) => answers.push(resolve));
    },
    /** To the oldest request. */
    answer: (reply: Reply) => answers.shift()?.(reply),
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a single one leaves at once; what comes while it is under way leaves together', async () => {
  const service = aService();
  const { add } = gatherer({ most: 10, request: service.request });
  const first = add('a');
  await turn();
  expect(service.requests).toEqual([['a']]);
  const others = [add('b'), add('c')];
  await turn();
  expect(service.requests).toEqual([['a']]);
  service.answer(OK);
  expect(await first).toEqual(OK);
  await turn();
  expect(service.requests).toEqual([['a'], ['b', 'c']]);
  const refusal = { ok: false, problem: 'no' } as const;
  service.answer(refusal);
  expect(await Promise.all(others)).toEqual([refusal, refusal]);
});

test('what is added together goes together, and never more than the most', async () => {
  const service = aService();
  const { add } = gatherer({ most: 2, request: service.request });
  for (const item of ['a', 'b', 'c', 'd', 'e']) add(item);
  for (let answers = 0; answers < 3; answers++) {
    await turn();
    service.answer(OK);
  }
  await turn();
  expect(service.requests).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('draining waits for all that was added', async () => {
  const service = aService();
  const { add, drain } = gatherer({ most: 1, request: service.request });
  const replies: Reply[] = [];
  add('a').then((reply) => replies.push(reply));
  add('b').then((reply) => replies.push(reply));
  let isDrained = false;
  const draining = drain().then(() => {
    isDrained = true;
  });
  await turn();
  service.answer(OK);
  await turn();
  expect(isDrained).toBe(false);
  service.answer(OK);
  await draining;
  expect(replies).toEqual([OK, OK]);
  await drain();
});
