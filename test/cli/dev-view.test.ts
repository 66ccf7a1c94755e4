import { describe, expect, it } from 'vitest';
import { type MeshView, plainView, screenView } from '../../lib/cli/output/mesh-view.ts';
import type { LogLine } from '../../lib/local/mesh/log-line.ts';
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
    expect(screen.visible()).not.toContain('change 10');
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

describe('the rows of screenView', () => {
  const rowsOf = ({ visible }: Screen) =>
    visible()
      .filter((line) => /^\S+ {2,}[·?\d]/.test(line))
      .map((line) => line.split(' ')[0]);
  const delivery = (actor: string, envelopeId: string, end?: 'done' | 'failed'): LogLine => ({
    kind: 'delivery',
    time: '2026-01-01T00:00:00Z',
    actor,
    envelopeId,
    attempt: 1,
    settle: 'ack',
    isFailure: end === 'failed',
    text: 'an event',
    ...(end === undefined ? {} : { end }),
  });
  const cells = ({ visible }: Screen, actor: string) =>
    visible()
      .find((line) => line.startsWith(`${actor} `))
      ?.split(/ +/);

  it('keep their order, also if the depths of a queue are unknown for a moment', () => {
    const { view, screen } = onScreen(100, 30);
    const names = ['fetch', 'score', 'store', 'x-sink'];
    const all = new Map(names.map((name) => [name, { ...EMPTY, visible: 1 }]));
    view.depths(all);
    expect(rowsOf(screen)).toEqual(names);
    view.depths(new Map<string, typeof EMPTY | undefined>(all).set('score', undefined));
    view.line(delivery('score', 'e-1', 'done'));
    view.depths(new Map<string, typeof EMPTY | undefined>(all).set('score', undefined));
    expect(rowsOf(screen)).toEqual(names);
    expect(cells(screen, 'score')).toEqual(['score', '?', '?', '?', '1', '·', '?']);
  });

  it('count each envelope once, and only if the actor is done with it', () => {
    const { view, screen } = onScreen(100, 30);
    for (const id of ['e-1', 'e-2', 'e-1', 'e-2', 'e-1']) view.line(delivery('score', id, 'done'));
    for (const id of ['e-3', 'e-3', 'e-4']) view.line(delivery('score', id));
    for (const id of ['e-4', 'e-4', 'e-5', 'e-6']) view.line(delivery('score', id, 'failed'));
    view.depths(new Map([['score', EMPTY]]));
    expect(cells(screen, 'score')).toEqual(['score', '·', '·', '·', '2', '3', '·']);
  });

  it('count every envelope of a mesh that runs for long', () => {
    const { view, screen } = onScreen(100, 30);
    for (let n = 0; n < 25_000; n++) view.line(delivery('score', `e-${n}`, 'done'));
    view.line(delivery('score', 'e-24999', 'done'));
    view.depths(new Map([['score', EMPTY]]));
    expect(cells(screen, 'score')).toEqual(['score', '·', '·', '·', '25000', '·', '·']);
  });

  it.each([
    [200, /^score +1 +· +· +· +· +· {2}cannot load: score\.ts:3: SyntaxError: .* unexpected$/],
    [80, /^score {3}cannot load: score\.ts:3: SyntaxError: the .*…$/],
  ])('show at %d columns why a handler cannot be loaded, until it can', (columns, row) => {
    const { view, screen } = onScreen(columns, 30);
    const depths = new Map([
      ['score', { ...EMPTY, visible: 1 }],
      ['x-sink', EMPTY],
    ]);
    view.problem('score', `cannot load: score.ts:3: SyntaxError: ${'the text is long '.repeat(4)}unexpected`);
    view.depths(depths);
    expect(screen.visible()[3]).toMatch(row);
    view.problem('score', undefined);
    view.depths(depths);
    expect(cells(screen, 'score')).toEqual(['score', '1', '·', '·', '·', '·', '·']);
  });

  it('stay in a small window if their handlers cannot be loaded, in the order of the table', () => {
    const { view, screen } = onScreen(80, 14);
    view.problem('actor-29', 'cannot load: b.ts');
    view.problem('actor-12', 'cannot load: a.ts');
    view.depths(queues(30));
    const rows = screen.visible().filter((line) => line.startsWith('actor-'));
    expect(rows).toEqual([
      ...[0, 1, 2, 3].map((at) => expect.stringMatching(`^actor-${at} `)),
      'actor-12  cannot load: a.ts',
      'actor-29  cannot load: b.ts',
    ]);
    expect(isVisible(screen, '… 24 more rows; enlarge the window to see them')).toBe(true);
  });

  it('are named if even those whose handlers cannot be loaded do not fit', () => {
    const { view, screen } = onScreen(100, 9);
    for (const at of [27, 28, 29]) view.problem(`actor-${at}`, 'cannot load');
    view.depths(queues(30));
    expect(isVisible(screen, 'enlarge the window to see them; not loaded: actor-28, actor-29')).toBe(true);
  });
});

describe('the recent lines of screenView', () => {
  it.each([
    [80, 24],
    [200, 60],
    [120, 150],
  ])('fill a window of %d columns and %d rows, also after a resize', (columns, rows) => {
    const { view, screen } = onScreen(100, 30);
    view.depths(queues(4));
    for (let at = 0; at < 400; at++) view.note(`change ${at}`);
    screen.resize(columns, rows);
    view.resized();
    expect(screen.visible().filter((line) => line !== '').length).toBeGreaterThan(rows - 7);
    expect(screen.visible()[0]).toBe(TITLE);
    expect(screen.visible()).toContain('change 399');
  });

  it('wrap a warning of the log, and keep its end', () => {
    const { view, screen } = onScreen(60, 30);
    const text = `${'the queue does not respond and '.repeat(5)}it is tried again until it does`;
    view.line({ kind: 'other', time: '2026-01-01T00:00:00Z', actor: 'score', level: 'warn', text });
    view.depths(queues(2));
    expect(isVisible(screen, 'it is tried again until it does')).toBe(true);
  });

  it('show the output of a handler with its indentation, in at most four rows, and without its escape sequences', () => {
    const { view, screen } = onScreen(60, 30);
    const output = (text: string): LogLine => ({
      kind: 'output',
      time: '2026-01-01T00:00:00Z',
      actor: 'score',
      envelopeId: '70b3ef47-7e60-47a1-ad1a-ee8eebf273c6',
      text,
    });
    view.depths(queues(2));
    view.line(output('{'));
    view.line(output('\t"indented":  \x1b[2J\x1b]0;title\x07true'));
    view.line(output('long '.repeat(2_000)));
    view.line(output('}'));
    view.depths(queues(2));
    const lines = screen.visible();
    expect(lines[0]).toBe(TITLE);
    const at = lines.indexOf('00:00:00 score 70b3ef47 | {');
    expect(lines[at + 1]).toBe('00:00:00 score 70b3ef47 |     "indented":  true');
    expect(lines[at + 2]).toMatch(/^00:00:00 score 70b3ef47 \| long long/);
    expect(lines[at + 5]).toMatch(/…$/);
    expect(lines[at + 6]).toBe('00:00:00 score 70b3ef47 | }');
  });
});

describe('plainView', () => {
  it('prints output and events in their full length', () => {
    const lines: string[] = [];
    const view = plainView((line) => lines.push(line));
    const time = '2026-01-01T00:00:00Z';
    const long = 'x'.repeat(30_000);
    view.line({ kind: 'output', time, actor: 'score', envelopeId: 'e-1', text: `  \x1b[31m${long}\x1b[0m` });
    view.line({ kind: 'output', time, actor: 'score', text: '' });
    view.line({ kind: 'other', time, actor: 'score', level: 'warn', text: long });
    expect(lines).toEqual([`00:00:00 score e-1 |   ${long}`, '00:00:00 score | ', `00:00:00 score ${long}`]);
  });

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
