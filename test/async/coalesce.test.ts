import { expect, test } from 'vitest';
import { coalesce } from '../../lib/async/coalesce.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

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

test('works on one key at a time, on everything that arrived meanwhile', async () => {
  const { runs, run, end } = aWorker();
  const first = run('a', '1');
  await turn();
  const others = [run('a', '2'), run('a', '3')];
  await turn();
  expect(runs).toEqual(['a: 1']);
  end();
  expect(await first).toBe('a: 1');
  await turn();
  expect(runs).toEqual(['a: 1', 'a: 2 3']);
  end();
  expect(await Promise.all(others)).toEqual(['a: 2 3', 'a: 2 3']);
});

test('works on different keys at the same time', async () => {
  const { runs, run } = aWorker();
  run('a', '1');
  run('b', '2');
  await turn();
  expect(runs).toEqual(['a: 1', 'b: 2']);
});

test('passes an error to every caller of the run, and to nobody after it', async () => {
  const { runs, run, end } = aWorker();
  const failing = Promise.allSettled([run('a', '1'), run('a', '2')]);
  await turn();
  const next = run('a', '3');
  end(false);
  expect(await failing).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await turn();
  end();
  expect(await next).toBe('a: 3');
  expect(runs).toEqual(['a: 1 2', 'a: 3']);
});

test('stays one at a time when callers ask again as soon as they have their result', async () => {
  let running = 0;
  let most = 0;
  const run = coalesce<number, number>(async (_key, items) => {
    most = Math.max(most, ++running);
    await turn();
    running--;
    return items.length;
  });
  const caller = async () => {
    for (let round = 0; round < 20; round++) await run('a', round);
  };
  await Promise.all([caller(), caller(), caller()]);
  expect(most).toBe(1);
});
