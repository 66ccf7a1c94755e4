import { describe, expect, it } from 'vitest';
import { type MeshView, plainView, screenView } from '../../lib/cli/output/mesh-view.ts';
import { aScreen, type Screen } from './a-screen.ts';

const TITLE = 'asya dev · hello';
const HINT = 'Ctrl-C stops';
const EMPTY = { visible: 0, inFlight: 0, delayed: 0, deadLettered: 0 };

function queues(count: number) {
  return new Map(Array.from({ length: count }, (_, at) => [`actor-${at}`, { ...EMPTY, visible: at }]));
}

function onScreen(columns: number, rows: number): { view: MeshView; screen: Screen } {
  const screen = aScreen(columns, rows);
  return { screen, view: screenView(TITLE, HINT, screen.write, screen.size) };
}

const titles = ({ gone, shown }: Screen) => [...gone(), ...shown()].filter((line) => line.includes(TITLE));
const isWhole = ({ shown }: Screen, words: string) => shown().join(' ').replace(/\s+/g, ' ').includes(words);

const MISTAKES =
  'the manifest was not taken over:\na.yaml:8:5 spec.resiliency.actorTimeout: is "10 seconds"; a duration is text like "300ms", "1.5s", "5m" or "1h30m"; did you mean "10s"?\nflows.yaml:5:3 flows[0].timeout: is "5m"; did you mean 300?';

describe("asya dev's screen", () => {
  it('stays in its place, whatever is told in several lines', () => {
    const { view, screen } = onScreen(80, 30);
    view.trouble(MISTAKES);
    for (let second = 0; second < 20; second++) view.depths(queues(4));
    expect(titles(screen)).toHaveLength(1);
  });

  it.each([120, 60, 33])('tells every trouble to its end, at %d columns', (columns) => {
    const { view, screen } = onScreen(columns, 40);
    view.depths(queues(2));
    view.trouble(MISTAKES);
    expect(isWhole(screen, 'did you mean "10s"?')).toBe(true);
    expect(isWhole(screen, 'flows[0].timeout: is "5m"; did you mean 300?')).toBe(true);
    expect(titles(screen)).toHaveLength(1);
  });

  it('has room for a trouble beside many actors, and says that there are more', () => {
    const { view, screen } = onScreen(100, 24);
    view.depths(queues(30));
    view.trouble('function "a" cannot be loaded; mend that');
    for (let second = 0; second < 5; second++) view.depths(queues(30));
    expect(isWhole(screen, 'cannot be loaded; mend that')).toBe(true);
    expect(screen.shown().join('\n')).toMatch(/… \d+ more; a taller window shows them/);
    expect(screen.shown().join('\n')).toContain(HINT);
    expect(titles(screen)).toHaveLength(1);
  });

  it('keeps what is needed for as long as it runs', () => {
    const { view, screen } = onScreen(100, 30);
    view.keep('gateway at http://127.0.0.1:1, key k');
    for (let at = 0; at < 40; at++) view.note(`change ${at}`);
    expect(screen.shown()).toContain('gateway at http://127.0.0.1:1, key k');
    expect(screen.shown()).toContain('change 39');
    expect(screen.shown()).not.toContain('change 20');
  });

  it.each([
    [50, 30],
    [140, 30],
    [100, 9],
    [100, 50],
  ])('is whole again at the next second of a window of %d columns and %d rows', (columns, rows) => {
    const { view, screen } = onScreen(100, 30);
    view.depths(queues(4));
    for (let at = 0; at < 12; at++) view.note(`change ${at} ${'of something long '.repeat(5)}`);
    screen.resize(columns, rows);
    for (let second = 0; second < 3; second++) view.depths(queues(4));
    expect(screen.shown().filter((line) => line.includes(TITLE))).toHaveLength(1);
    expect(screen.shown()[0]).toBe(TITLE);
    expect(screen.shown().length).toBeLessThanOrEqual(rows);
  });

  it('is drawn from the left, though the terminal has echoed a Ctrl-C', () => {
    const { view, screen } = onScreen(80, 24);
    view.depths(queues(2));
    screen.write('^C');
    view.note('stopping');
    expect(screen.shown()[0]).toBe(TITLE);
  });

  it('does not creep where letters are two columns wide', () => {
    const { view, screen } = onScreen(60, 24);
    view.line({ kind: 'output', time: '2026-01-01T00:00:00Z', actor: 'a', text: '漢字'.repeat(60) });
    for (let second = 0; second < 5; second++) view.depths(queues(2));
    expect(titles(screen)).toHaveLength(1);
  });

  it('moves nothing by what comes from outside', () => {
    const { view, screen } = onScreen(80, 24);
    view.depths(queues(2));
    view.trouble('it said: \x1b[2J\x1b[H\u009b1Aoops\rover');
    expect(screen.shown()[0]).toBe(TITLE);
    expect(isWhole(screen, 'it said: oops')).toBe(true);
  });
});

describe("asya dev's lines", () => {
  it('are plain, and all of them there', () => {
    const lines: string[] = [];
    const view = plainView((line) => lines.push(line));
    view.note('a note');
    view.keep('a key');
    view.trouble('a trouble');
    view.depths(queues(3));
    expect(lines).toEqual(['a note', 'a key', '! a trouble']);
  });
});
