import { expect, test } from 'vitest';
import { coalesce } from '../../lib/async/coalesce.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function aWorker() {
  const runs: string[] = [];
  const ends: ((isDone: boolean) => void)[] = [];
  const run = coalesce<string, string>((key, items) => {
    const name = `${key}: ${items.join(' ')}`;
    runs.push(name);
    return new Promise((resolve, reject) =>
      ends.push((isDone) => (isDone ? resolve(name) : reject(new Error(name)))),
    );
  });
  return { runs, run, end: (isDone = true) => ends.shift()?.(isDone) };
}

test('runs once at a time per key, with all items that arrived meanwhile', async () => {
  const { runs, run, end } = aWorker();
  const first = run('a', '1');
  await nextTurn();
  const others = [run('a', '2'), run('a', '3')];
  await nextTurn();
  expect(runs).toEqual(['a: 1']);
  end();
  expect(await first).toBe('a: 1');
  await nextTurn();
  expect(runs).toEqual(['a: 1', 'a: 2 3']);
  end();
  expect(await Promise.all(others)).toEqual(['a: 2 3', 'a: 2 3']);
});

test('runs different keys at the same time', async () => {
  const { runs, run } = aWorker();
  run('a', '1');
  run('b', '2');
  await nextTurn();
  expect(runs).toEqual(['a: 1', 'b: 2']);
});

test('passes an error to every caller of the run, but not to later callers', async () => {
  const { runs, run, end } = aWorker();
  const failing = Promise.allSettled([run('a', '1'), run('a', '2')]);
  await nextTurn();
  const next = run('a', '3');
  end(false);
  expect(await failing).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await nextTurn();
  end();
  expect(await next).toBe('a: 3');
  expect(runs).toEqual(['a: 1 2', 'a: 3']);
});

test('runs once at a time when callers call again as soon as they have their result', async () => {
  let running = 0;
  let mostRunning = 0;
  const run = coalesce<number, number>(async (_key, items) => {
    mostRunning = Math.max(mostRunning, ++running);
    await nextTurn();
    running--;
    return items.length;
  });
  const caller = async () => {
    for (let round = 0; round < 20; round++) await run('a', round);
  };
  await Promise.all([caller(), caller(), caller()]);
  expect(mostRunning).toBe(1);
});
