import { expect, test } from 'vitest';
import { refusalOf } from '../../../lib/adapters/pubsub/refusal.ts';

const DOWN = '14 UNAVAILABLE: No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1.';

test.each([
  ['unchanged', DOWN, DOWN],
  ['without an empty note', `${DOWN} Resolution note: `, DOWN],
  [
    'the last error of several attempts',
    `Total timeout of API google.pubsub.v1.Publisher exceeded 10000 milliseconds retrying error Error: ${DOWN} Resolution note:  before any response was received.`,
    `${DOWN}; gave up after several attempts`,
  ],
])('reports the error of the client: %s', (_, original, reported) => {
  expect(refusalOf(new Error(original), 'score')).toEqual({
    ok: false,
    problem: `${reported} (queue "score")`,
  });
});

test('reports NOT_FOUND as a missing queue', () => {
  const error = Object.assign(new Error('5 NOT_FOUND'), { code: 5 });
  expect(refusalOf(error, 'score')).toMatchObject({ ok: false, isQueueMissing: true });
});
