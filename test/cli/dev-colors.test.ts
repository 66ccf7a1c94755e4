import { afterAll, expect, it, vi } from 'vitest';

// Colors are chosen when the module is loaded, and other test files may have loaded it before.
vi.resetModules();
vi.stubEnv('FORCE_COLOR', '1');
vi.stubEnv('NO_COLOR', undefined);
const { screenView } = await import('../../lib/cli/output/mesh-view.ts');

afterAll(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

const EMPTY = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };
const RED = '\x1b[31m';

it('shows only the row of an actor in red whose handler cannot be loaded', () => {
  let frame = '';
  const view = screenView(
    'title',
    'hint',
    (text) => (frame = text),
    () => ({ columns: 200, rows: 30 }),
  );
  const rowOf = (actor: string) => frame.split('\n').find((line) => line.includes(`${actor} `)) ?? '';
  const depths = new Map([
    ['score', EMPTY],
    ['store', EMPTY],
  ]);
  view.problem('score', 'cannot load: score.ts:3: SyntaxError');
  view.depths(depths);
  expect(rowOf('score').startsWith(RED)).toBe(true);
  expect(rowOf('store')).not.toContain(RED);
  view.problem('score', undefined);
  view.depths(depths);
  expect(rowOf('score')).not.toContain(RED);
});
