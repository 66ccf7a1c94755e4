import { expect, test } from 'vitest';
import { encodeFrames, frameReader } from '../../../lib/adapters/runtime-socket/frame-reader.ts';

const TEXTS = [
  [''],
  ['{"a":1}', ''],
  ['ü'],
  ['a', 'ü', 'b'],
  ['\u{1f600}', 'text'],
  ['text', '€'.repeat(70_000)],
  ['x'.repeat(70_000), 'ü'],
  ['\ud800'],
];

test.each(TEXTS)('frames contain whole texts, whatever their characters are (%#)', (...texts) => {
  const bytes = encodeFrames(...texts);
  const frames: string[] = [];
  const reader = frameReader(1_000_000);
  expect(reader.add(bytes, (frame) => frames.push(frame.toString('utf8')))).toBeUndefined();
  expect(reader.isInFrame()).toBe(false);
  // A lone surrogate has no bytes of its own in UTF-8.
  expect(frames).toEqual(texts.map((text) => text.toWellFormed()));
});
