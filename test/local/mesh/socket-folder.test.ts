import { cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openSocketFolder, removeLeftSockets } from '../../../lib/local/mesh/socket-folder.ts';
import { aFolder } from '../../support/a-folder.ts';

function opened(dataDir?: string) {
  const sockets = openSocketFolder(dataDir);
  onTestFinished(() => sockets.remove());
  writeFileSync(join(sockets.path, 'a-1.sock'), '');
  return sockets;
}

test('one that was left behind by a killed mesh goes with the next start, and with throwing its data away', () => {
  const dataDir = aFolder({});
  const first = opened(dataDir);
  const second = opened(dataDir);
  expect([first, second].map(({ path }) => existsSync(path))).toEqual([false, true]);
  removeLeftSockets(dataDir);
  expect(existsSync(second.path)).toBe(false);
});

test('one that was removed in order is forgotten, and a mesh that keeps nothing has one too', () => {
  const dataDir = aFolder({});
  for (const sockets of [opened(dataDir), opened()]) {
    sockets.remove();
    expect(existsSync(sockets.path)).toBe(false);
  }
  expect(existsSync(join(dataDir, 'sockets.json'))).toBe(false);
});

test("a copy of a mesh's data leaves the sockets of the original alone", () => {
  const dataDir = aFolder({});
  const original = opened(dataDir);
  const copy = join(aFolder({}), 'copy');
  cpSync(dataDir, copy, { recursive: true });
  opened(copy);
  expect(existsSync(original.path)).toBe(true);
});

test('a note that names anything else has nothing removed', () => {
  const dataDir = realpathSync(aFolder({}));
  const precious = join(aFolder({ 'precious/file': '' }), 'precious');
  writeFileSync(join(dataDir, 'sockets.json'), JSON.stringify({ dataDir, path: precious }));
  opened(dataDir);
  expect(existsSync(join(precious, 'file'))).toBe(true);
});

test('a note that nobody can read is no reason not to start', () => {
  const dataDir = aFolder({ 'sockets.json': '{"fold', 'data/sockets.json': '{"dataDir":7}' });
  expect(existsSync(opened(dataDir).path)).toBe(true);
  mkdirSync(join(dataDir, 'data'), { recursive: true });
  expect(existsSync(opened(join(dataDir, 'data')).path)).toBe(true);
});
