import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runFlow, runHandler } from 'asya-serverless/testing';
import { greet } from './greet.ts';

test('the handler greets', async () => {
  const { items, progress } = await runHandler(greet, { name: 'you' });
  assert.deepEqual(items, [{ greeting: 'Hello, you' }]);
  assert.deepEqual(progress, [{ percent: 50, message: 'greeting you' }]);
});

test('the handler needs a name', async () => {
  const { error } = await runHandler(greet, {});
  assert.equal(error?.type, 'NoName');
});

// Time is virtual: the test does not wait for the delays of greet.yaml.
test('the flow retries a failed call', async () => {
  const { end, timeline } = await runFlow({
    mesh: import.meta.dirname,
    flow: 'hello',
    payload: { name: 'you' },
    fail: 'greet:http:503*2',
  });
  assert.equal(end.phase, 'succeeded');
  assert.equal(timeline.filter(({ actor }) => actor === 'greet').length, 3);
});

test('the flow fails without a name, and does not retry', async () => {
  const { end } = await runFlow({ mesh: import.meta.dirname, flow: 'hello', payload: {} });
  assert.equal(end.reason, 'NonRetryableFailure');
  assert.equal(end.error?.type, 'NoName');
});
