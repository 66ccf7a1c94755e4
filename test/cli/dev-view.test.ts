import { describe, expect, it } from 'vitest';
import { type MeshView, plainView, screenView } from '../../lib/cli/output/mesh-view.ts';
import { fakeScreen, type Screen } from './fake-screen.ts';

const TITLE = 'asya dev · hello';
const HINT = 'Ctrl-C stops';
const EMPTY = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

function queues(count: number) {
  return new Map(Array.from({ length: count }, (_, at) => [`actor-${at}`, { ...EMPTY, visible: at }]));
}

function onScreen(columns: number, rows: number): { view: MeshView; screen: Screen } {
  const screen = fakeScreen(columns, rows);
  return { screen, view: screenView(TITLE, HINT, screen.write, screen.size) };
}

const titles = ({ scrolledOut, visible }: Screen) =>
  [...scrolledOut(), ...visible()].filter((line) => line.includes(TITLE));
const isVisible = ({ visible }: Screen, text: string) =>
  visible().join(' ').replace(/\s+/g, ' ').includes(text);

const MISTAKES =
  'the manifest was not applied:\na.yaml:8:5 spec.resiliency.actorTimeout: is "10 seconds"; expected a duration such as "300ms", "1.5s", "5m" or "1h30m"; did you mean "10s"?\nflows.yaml:5:3 flows[0].timeout: is "5m"; did you mean 300?';

describe('screenView', () => {
  it('redraws in place after a warning of several lines', () => {
    const { view, screen } = onScreen(80, 30);
    view.warn(MISTAKES);
    for (let second = 0; second < 20; second++) view.depths(queues(4));
    expect(titles(screen)).toHaveLength(1);
  });

  it.each([120, 60, 33])('shows a whole warning at %d columns', (columns) => {
    const { view, screen } = onScreen(columns, 40);
    view.depths(queues(2));
    view.warn(MISTAKES);
    expect(isVisible(screen, 'did you mean "10s"?')).toBe(true);
    expect(isVisible(screen, 'flows[0].timeout: is "5m"; did you mean 300?')).toBe(true);
    expect(titles(screen)).toHaveLength(1);
  });

  it('keeps room for a warning when there are many actors, and counts the hidden rows', () => {
    const { view, screen } = onScreen(100, 24);
    view.depths(queues(30));
    view.warn('function "a" cannot be loaded; fix it');
    for (let second = 0; second < 5; second++) view.depths(queues(30));
    expect(isVisible(screen, 'cannot be loaded; fix it')).toBe(true);
    expect(screen.visible().join('\n')).toMatch(/… \d+ more rows; enlarge the window to see them/);
    expect(screen.visible().join('\n')).toContain(HINT);
    expect(titles(screen)).toHaveLength(1);
  });

  it('keeps pinned lines visible', () => {
    const { view, screen } = onScreen(100, 30);
    view.pin('gateway at http://127.0.0.1:1, key k');
    for (let at = 0; at < 40; at++) view.note(`change ${at}`);
    expect(screen.visible()).toContain('gateway at http://127.0.0.1:1, key k');
    expect(screen.visible()).toContain('change 39');
    expect(screen.visible()).not.toContain('change 20');
  });

  it.each([
    [50, 30],
    [140, 30],
    [100, 9],
    [100, 50],
  ])('redraws the whole screen after a resize to %d columns and %d rows', (columns, rows) => {
    const { view, screen } = onScreen(100, 30);
    view.depths(queues(4));
    for (let at = 0; at < 12; at++) view.note(`change ${at} ${'of something long '.repeat(5)}`);
    screen.resize(columns, rows);
    for (let second = 0; second < 3; second++) view.depths(queues(4));
    expect(screen.visible().filter((line) => line.includes(TITLE))).toHaveLength(1);
    expect(screen.visible()[0]).toBe(TITLE);
    expect(screen.visible().length).toBeLessThanOrEqual(rows);
  });

  it('starts at the first column after the terminal echoed a Ctrl-C', () => {
    const { view, screen } = onScreen(80, 24);
    view.depths(queues(2));
    screen.write('^C');
    view.note('stopping');
    expect(screen.visible()[0]).toBe(TITLE);
  });

  it('redraws in place with letters that are two columns wide', () => {
    const { view, screen } = onScreen(60, 24);
    view.line({ kind: 'output', time: '2026-01-01T00:00:00Z', actor: 'a', text: '漢字'.repeat(60) });
    for (let second = 0; second < 5; second++) view.depths(queues(2));
    expect(titles(screen)).toHaveLength(1);
  });

  it('removes control characters from warnings', () => {
    const { view, screen } = onScreen(80, 24);
    view.depths(queues(2));
    view.warn('it said: \x1b[2J\x1b[H\u009b1Aoops\rover');
    expect(screen.visible()[0]).toBe(TITLE);
    expect(isVisible(screen, 'it said: oops')).toBe(true);
  });
});

describe('plainView', () => {
  it('prints one line per note, pinned line and warning', () => {
    const lines: string[] = [];
    const view = plainView((line) => lines.push(line));
    view.note('a note');
    view.pin('a key');
    view.warn('a warning');
    view.depths(queues(3));
    expect(lines).toEqual(['a note', 'a key', '! a warning']);
  });
});
