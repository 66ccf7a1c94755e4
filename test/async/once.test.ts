import { expect, it, vi } from 'vitest';
import { once } from '../../lib/async/once.ts';

it('runs at the first call only and returns its result to later calls', () => {
  const run = vi.fn((name: string) => `hello ${name}`);
  const greet = once(run);
  expect([greet('a'), greet('b')]).toEqual(['hello a', 'hello a']);
  expect(run).toHaveBeenCalledExactlyOnceWith('a');
});

it('runs once if it is called from within', () => {
  const run = vi.fn(() => end());
  const end: () => void = once(run);
  end();
  expect(run).toHaveBeenCalledTimes(1);
});
