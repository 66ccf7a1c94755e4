import { expectTypeOf, it } from 'vitest';
import type { Handler } from '../../lib/handler/index.ts';
import { runHandler } from '../../lib/testing/index.ts';

/** The compiler checks these. */

it('infers the items of every kind of handler', async () => {
  const plain = (n: number) => `${n}`;
  const later = async (n: number) => ({ n });
  function* generated(n: number) {
    yield n;
  }
  async function* generatedLater(n: number) {
    yield `${n}`;
  }
  const list = (n: number): readonly number[] => [n];
  const maybe = (n: number): string | undefined => (n > 0 ? 'positive' : undefined);
  const typed: Handler<number, { readonly n: number }> = (n) => ({ n });
  expectTypeOf((await runHandler(plain, 1)).items).toEqualTypeOf<readonly string[]>();
  expectTypeOf((await runHandler(later, 1)).items).toEqualTypeOf<readonly { n: number }[]>();
  expectTypeOf((await runHandler(generated, 1)).items).toEqualTypeOf<readonly number[]>();
  expectTypeOf((await runHandler(generatedLater, 1)).items).toEqualTypeOf<readonly string[]>();
  expectTypeOf((await runHandler(list, 1)).items).toEqualTypeOf<readonly number[]>();
  expectTypeOf((await runHandler(maybe, 1)).items).toEqualTypeOf<readonly string[]>();
  expectTypeOf((await runHandler(typed, 1)).items).toEqualTypeOf<readonly { readonly n: number }[]>();
});

it('rejects a payload of another type', async () => {
  const score = ({ text }: { readonly text: string }) => text.length;
  // @ts-expect-error: the handler expects text.
  await runHandler(score, { text: undefined });
});
