import { afterEach, describe, expect, test } from 'vitest';
import { asyaRuntime } from '../../../lib/adapters/runtime-socket/asya-runtime.ts';
import type { HandlerProgress } from '../../../lib/core/envelope/handler-progress.ts';
import type { Runtime } from '../../../lib/ports/runtime.ts';
import { detailOf, requestWith, valueIn } from './a-request.ts';
import { type FrameServer, frameOf, startFrameServer } from './frame-server.ts';

/** The sidecar's side of the `asya:` protocol, with a runtime that does not follow it. */

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const MAX_BYTES = 10_000;
const pair = (kind: string, body = ''): Buffer =>
  Buffer.concat([frameOf(JSON.stringify({ kind })), frameOf(body)]);
const ITEM = pair('item', `"${'x'.repeat(MAX_BYTES / 4)}"`);
const FINE = pair('end', '"fine"');

/** Answers the calls with these bytes, the last of them again and again. */
async function start(answers: readonly Buffer[]): Promise<{ server: FrameServer; runtime: Runtime }> {
  const left = [...answers];
  const server = await startFrameServer((socket, _frame, nth) => {
    const isBody = nth.request % 2 === 1;
    if (isBody) socket.write((left.length > 1 ? left.shift() : left[0]) ?? '');
  });
  const runtime = asyaRuntime({
    path: server.path,
    actor: 'score',
    fanOut: 'array',
    maxAnswerBytes: MAX_BYTES,
  });
  open.push(runtime, server);
  return { server, runtime };
}

describe('the items of a call above the limit end it as too-large', () => {
  test.each([
    ['and the next call gets its own answer', [ITEM, ITEM, ITEM, ITEM]],
    ['even if the runtime has sent more', [ITEM, ITEM, ITEM, ITEM, ITEM, pair('end')]],
    ['even if a part of the next item has arrived', [ITEM, ITEM, ITEM, ITEM, ITEM.subarray(0, 100)]],
  ])('%s', async (_title, answer) => {
    const { server, runtime } = await start([Buffer.concat(answer), FINE]);
    expect(await runtime.call(requestWith(1))).toMatchObject({ kind: 'too-large' });
    await expect.poll(() => server.open()).toBe(0);
    expect(valueIn(await runtime.call(requestWith(2)))).toBe('fine');
  });

  test('and their heads count', async () => {
    const head = JSON.stringify({ kind: 'item', headers: { note: 'x'.repeat(MAX_BYTES) } });
    const { runtime } = await start([Buffer.concat([frameOf(head), frameOf('1'), pair('end')])]);
    expect(await runtime.call(requestWith(1))).toMatchObject({ kind: 'too-large' });
  });
});

test('does not use a connection again after an answer that it cannot read', async () => {
  const { server, runtime } = await start([pair('strange', '1'), FINE]);
  expect(detailOf(await runtime.call(requestWith(1)))).toMatch(/has the kind "strange"/);
  await expect.poll(() => server.open()).toBe(0);
  expect(valueIn(await runtime.call(requestWith(2)))).toBe('fine');
});

test('reports progress during the call only', async () => {
  const late = Buffer.concat([FINE, pair('progress', '"late"')]);
  const { runtime } = await start([Buffer.concat([pair('progress', '"early"'), FINE]), late]);
  const updates: HandlerProgress[] = [];
  const request = { ...requestWith(1), onProgress: (update: HandlerProgress) => updates.push(update) };
  expect(valueIn(await runtime.call(request))).toBe('fine');
  expect(updates).toEqual([{ data: '"early"' }]);
  // A runtime that continues after the end does not follow the protocol.
  expect(detailOf(await runtime.call(request))).toMatch(/more than one answer/);
  expect(updates).toHaveLength(1);
});
