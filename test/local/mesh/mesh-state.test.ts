import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runningMeshes } from '../../../lib/assembly/mesh/running-mesh.ts';
import { stoppedMeshes } from '../../../lib/assembly/mesh/stored-gateway.ts';
import { meshState } from '../../../lib/local/mesh/mesh-state.ts';
import { aFolder } from '../../support/a-folder.ts';
import { openToOthers, withUmask } from '../../support/modes.ts';

const NOTHING = { folder: '/m', variables: {}, actors: [], flows: [] };

it('rotates the log and keeps one older file', () => {
  const cwd = aFolder({});
  const state = meshState(cwd, 'm', 100);
  state.announce(NOTHING);
  for (let line = 0; line < 1_000; line++) state.log(`{"line":${line}}`);
  expect(readdirSync(dirname(state.logFile)).sort()).toEqual(['log.jsonl', 'log.jsonl.1', 'mesh.json']);
  expect(statSync(state.logFile).size + statSync(`${state.logFile}.1`).size).toBeLessThan(300);
  const text = readFileSync(state.logFile, 'utf8');
  expect(text).toMatch(/\{"line":999\}\n$/);
  // Also a log of an earlier run.
  const next = meshState(cwd, 'm', text.length - 1);
  next.log('{"line":1000}');
  expect(readFileSync(`${state.logFile}.1`, 'utf8')).toBe(text);
});

it('announces a running mesh in a private file until it is withdrawn', () => {
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

describe('the state folder', () => {
  it('is private for any umask', () => {
    const cwd = aFolder({});
    withUmask(0, () => {
      const state = meshState(cwd, 'm', 20);
      expect(state.prepare()).toBeUndefined();
      state.announce(NOTHING);
      for (let line = 0; line < 10; line++) state.log(`{"line":${line}}`);
      expect(readdirSync(dirname(state.logFile)).sort()).toEqual(['log.jsonl', 'log.jsonl.1', 'mesh.json']);
    });
    expect(openToOthers(join(cwd, '.asya'))).toEqual([]);
  });

  it('of an earlier version is made private, but not the targets of links', () => {
    const elsewhere = aFolder({ 'folder/file': '' });
    const cwd = aFolder({ '.asya/m/log.jsonl': '', '.asya/m/data/sqs/db': '', '.asya/other/log.jsonl': '' });
    const state = join(cwd, '.asya');
    symlinkSync(join(elsewhere, 'folder'), join(state, 'm/data/link'));
    for (const folder of ['.', 'm', 'm/data', 'm/data/sqs']) chmodSync(join(state, folder), 0o777);
    for (const file of ['m/log.jsonl', 'm/data/sqs/db']) chmodSync(join(state, file), 0o666);
    for (const path of ['folder', 'folder/file']) chmodSync(join(elsewhere, path), 0o755);
    expect(meshState(cwd, 'm').prepare()).toBeUndefined();
    expect(openToOthers(join(state, 'm'))).toEqual([]);
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    expect([modeOf(state), modeOf(join(state, 'm/data/sqs')), modeOf(join(state, 'm/data/sqs/db'))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
    expect(['folder', 'folder/file'].map((path) => modeOf(join(elsewhere, path)))).toEqual([0o755, 0o755]);
  });

  it('that cannot be created is reported as a warning', () => {
    const cwd = aFolder({ '.asya': 'a file' });
    expect(meshState(cwd, 'm').prepare()).toMatch(/^cannot restrict .*\.asya to the current user: E[A-Z]+: /);
  });
});

it("keeps the gateway's port and key, also if the data is deleted, in a private file", () => {
  const cwd = aFolder({});
  const state = meshState(cwd, 'm');
  expect(state.readGateway()).toBeUndefined();
  const gateway = { port: 4321, key: 'asya_0123456789abcdef' };
  state.storeGateway(gateway);
  mkdirSync(state.dataDir, { recursive: true });
  expect(meshState(cwd, 'm').readGateway()).toEqual(gateway);
  state.empty();
  expect(readdirSync(dirname(state.meshFile))).toEqual(['gateway.json']);
  expect(state.readGateway()).toEqual(gateway);
  expect(openToOthers(join(cwd, '.asya', 'm', 'gateway.json'))).toEqual([]);
  expect(stoppedMeshes(cwd)).toEqual([{ name: 'm', gateway }]);
});

it.each(['', '{', 'null', '{"port":0,"key":"asya_0123456789abcdef"}', '{"port":80,"key":"short"}'])(
  'ignores the stored gateway %j',
  (text) => {
    const cwd = aFolder({ '.asya/m/gateway.json': text });
    expect(meshState(cwd, 'm').readGateway()).toBeUndefined();
  },
);
