import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { runningMeshes } from '../../lib/assembly/running-mesh.ts';
import { meshState } from '../../lib/local/mesh-state.ts';
import { aFolder } from '../support/a-folder.ts';

const NOTHING = { folder: '/m', variables: {}, actors: [], flows: [] };

it('a log is kept with the one before it, and grows no further, however long the mesh runs', () => {
  const cwd = aFolder({});
  const state = meshState(cwd, 'm', 100);
  state.announce(NOTHING);
  for (let line = 0; line < 1_000; line++) state.log(`{"line":${line}}`);
  expect(readdirSync(dirname(state.logFile)).sort()).toEqual(['log.jsonl', 'log.jsonl.1', 'mesh.json']);
  expect(statSync(state.logFile).size + statSync(`${state.logFile}.1`).size).toBeLessThan(300);
  const text = readFileSync(state.logFile, 'utf8');
  expect(text).toMatch(/\{"line":999\}\n$/);
  // Also one that was there before.
  const next = meshState(cwd, 'm', text.length - 1);
  next.log('{"line":1000}');
  expect(readFileSync(`${state.logFile}.1`, 'utf8')).toBe(text);
});

it('a mesh is there from when it says so until it goes, and its key is for its owner alone', () => {
  const cwd = aFolder({});
  const state = meshState(cwd, 'm');
  mkdirSync(state.dataDir, { recursive: true });
  expect(runningMeshes(cwd)).toEqual([]);
  state.announce(NOTHING);
  expect(runningMeshes(cwd)).toMatchObject([{ name: 'm', pid: process.pid, logFile: state.logFile }]);
  expect(statSync(state.meshFile).mode & 0o777).toBe(0o600);
  state.withdraw();
  expect(runningMeshes(cwd)).toEqual([]);
  expect(readdirSync(dirname(state.meshFile))).toEqual(['data']);
});
