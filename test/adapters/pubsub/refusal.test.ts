import { expect, test } from 'vitest';
import { refusalOf } from '../../../lib/adapters/pubsub/refusal.ts';

const DOWN = '14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1.';

test.each([
  ['as it came', DOWN, DOWN],
  ['without a note that says nothing', `${DOWN} Resolution note: `, DOWN],
  [
    'the last attempt of many',
    `Total timeout of API google.pubsub.v1.Publisher exceeded 10000 milliseconds retrying error Error: ${DOWN} Resolution note:  before any response was received.`,
    `${DOWN}; gave up after several attempts`,
  ],
])('what the client says: %s', (_, said, told) => {
  expect(refusalOf(new Error(said), 'score')).toEqual({ ok: false, problem: `${told} (queue "score")` });
});

test('what is not there is a missing queue', () => {
  const error = Object.assign(new Error('5 NOT_FOUND'), { code: 5 });
  expect(refusalOf(error, 'score')).toMatchObject({ ok: false, isQueueMissing: true });
});
