import { cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDebugFolder, removeLeftDebugFolder } from '../../../lib/local/mesh/debug-folder.ts';
import { aFolder } from '../../support/a-folder.ts';

function opened(dataDir?: string) {
  if (dataDir !== undefined) removeLeftDebugFolder(dataDir);
  const folder = openDebugFolder(dataDir);
  onTestFinished(() => folder.remove());
  writeFileSync(join(folder.path, 'a.debugger'), '');
  return folder;
}

test('removes the folder of a killed mesh at the next start, or with its data', () => {
  const dataDir = aFolder({});
  const first = opened(dataDir);
  const second = opened(dataDir);
  expect([first, second].map(({ path }) => existsSync(path))).toEqual([false, true]);
  removeLeftDebugFolder(dataDir);
  expect(existsSync(second.path)).toBe(false);
});

test('removes the folder and its note on shutdown', () => {
  const dataDir = aFolder({});
  for (const folder of [opened(dataDir), opened()]) {
    folder.remove();
    expect(existsSync(folder.path)).toBe(false);
  }
  expect(existsSync(join(dataDir, 'sockets.json'))).toBe(false);
});

test('does not remove the folder of the original if the data was copied', () => {
  const dataDir = aFolder({});
  const original = opened(dataDir);
  const copy = join(aFolder({}), 'copy');
  cpSync(dataDir, copy, { recursive: true });
  opened(copy);
  expect(existsSync(original.path)).toBe(true);
});

test('does not remove a folder without the prefix', () => {
  const dataDir = realpathSync(aFolder({}));
  const precious = join(aFolder({ 'precious/file': '' }), 'precious');
  writeFileSync(join(dataDir, 'sockets.json'), JSON.stringify({ dataDir, path: precious }));
  opened(dataDir);
  expect(existsSync(join(precious, 'file'))).toBe(true);
});

test('ignores an invalid note', () => {
  const dataDir = aFolder({ 'sockets.json': '{"fold', 'data/sockets.json': '{"dataDir":7}' });
  expect(existsSync(opened(dataDir).path)).toBe(true);
  mkdirSync(join(dataDir, 'data'), { recursive: true });
  expect(existsSync(opened(join(dataDir, 'data')).path)).toBe(true);
});
