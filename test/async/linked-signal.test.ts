import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { linkedSignal } from '../../lib/async/linked-signal.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('aborts when one of its sources does', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const { signal } = linkedSignal([first.signal, second.signal]);
  expect(signal.aborted).toBe(false);
  second.abort();
  expect(signal.aborted).toBe(true);
});

it('aborts after the delay', () => {
  const source = new AbortController();
  const { signal } = linkedSignal([source.signal], { delayMs: 200 });
  source.abort();
  vi.advanceTimersByTime(199);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.aborted).toBe(true);
});

it('aborts at once if a source is already aborted', () => {
  expect(linkedSignal([AbortSignal.abort()], { delayMs: 200 }).signal.aborted).toBe(true);
});

it('aborts after its timeout', () => {
  const { signal } = linkedSignal([], { timeoutMs: 1_000 });
  vi.advanceTimersByTime(1_000);
  expect(signal.aborted).toBe(true);
});

it('leaves no timers and no listeners behind when it is disposed', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const { signal, dispose } = linkedSignal([first.signal, second.signal], { delayMs: 1, timeoutMs: 2 });
  first.abort();
  dispose();
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(second.signal, 'abort')).toEqual([]);
  expect(signal.aborted).toBe(false);
});
