import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { failureText } from '../../../lib/assembly/hosts/failure-text.ts';

it('includes the stack of a bug, but not of a system error', async () => {
  const bug = new Error('a bug');
  expect(failureText(bug)).toBe(bug.stack);
  expect(failureText('thrown')).toBe('thrown');
  const refused = await new Promise((resolve) =>
    createServer().once('error', resolve).listen('/nowhere/x.sock'),
  );
  expect(failureText(refused)).toMatch(/^listen E\w+: .*\/nowhere\/x\.sock$/);
});
