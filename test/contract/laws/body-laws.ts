import { expect } from 'vitest';
import type { Transport } from '../../../lib/ports/transport.ts';
import { type Law, OK, receiveNothing, receiveOne, receiveSome, sendAll, textOf } from '../law.ts';

/** Sends them, and expects every one back, character for character. */
async function expectUntouched(
  transport: Transport,
  queue: string,
  bodies: readonly string[],
): Promise<void> {
  await sendAll(transport, queue, bodies);
  const deliveries = await receiveSome(transport, queue, bodies.length);
  expect(deliveries.map(textOf).toSorted()).toEqual(bodies.toSorted());
}

/** A JSON string that takes so many bytes. */
function bodyOf(bytes: number): string {
  return `"${'x'.repeat(bytes - 2)}"`;
}

/** Every escape there is for what JSON forbids raw, and halves of pairs, which have no other way to travel. */
const ESCAPED = Array.from({ length: 0x20 }, (_, code) => `\\u${code.toString(16).padStart(4, '0')}`).join(
  '',
);
const ESCAPES = `"${ESCAPED}\\ud800\\udfff\\ufffe\\uffff\\/\\b\\f\\n\\r\\t\\\\\\""`;

const RAW_CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));

/** Characters of one, two and three bytes at every offset that a buffer may be cut at. */
const MEGABYTE = `"${'aé€'.repeat(Math.floor(1_000_000 / 6)).padEnd(500_000, 'x')}"`;

export const BODY_LAWS: readonly Law[] = [
  {
    name: 'the shortest JSON survives untouched',
    run: async ({ queue, transport }) =>
      expectUntouched(await transport(), queue, ['0', '""', '{}', '[]', 'null', 'false']),
  },
  {
    name: 'JSON survives as it was written: spaces, doubled keys, long numbers',
    run: async ({ queue, transport }) =>
      expectUntouched(await transport(), queue, [
        ' { "a" : 1 ,\t"a":\n2 }\r\n',
        '{"n":12345678901234567890,"x":1.0e+2,"z":-0}',
      ]),
  },
  {
    name: 'escaped control characters and halves of pairs survive untouched',
    run: async ({ queue, transport }) => expectUntouched(await transport(), queue, [ESCAPES]),
  },
  {
    name: 'Unicode up to U+FFFD survives untouched',
    run: async ({ queue, transport }) =>
      expectUntouched(await transport(), queue, [
        '"äöüß ελληνικά 日本語 עברית"',
        '"\u007f\u0080\u0085\u00a0\u2028\u2029\ufeff\ufffd\ud7ff\ue000"',
        '"e\u0301 is not \u00e9"',
        '"<>&\'%+;=\u200b"',
      ]),
  },
  {
    name: 'characters beyond U+FFFF survive untouched',
    needs: ['rawAstralCharacters'],
    run: async ({ queue, transport }) =>
      expectUntouched(await transport(), queue, [
        '"\u{1f600}"',
        '"\u{10000}\u{10ffff}\u{1fffe}\u{1ffff}\u{1f469}\u200d\u{1f680}"',
      ]),
  },
  {
    name: 'U+FFFE and U+FFFF in a string mean the same when they arrive',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const body = '{"raw":"\ufffe\uffff","escaped":"\\ufffe\\uffff","after":"\\\\\uffff"}';
      expect(await one.send(queue, body)).toEqual(OK);
      expect(JSON.parse(textOf(await receiveOne(one, queue)))).toEqual(JSON.parse(body));
    },
  },
  {
    name: 'raw control characters survive untouched, or are refused',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const bodies = RAW_CONTROLS.map((character) => `"${character}"`);
      const accepted: string[] = [];
      for (const body of bodies) if ((await one.send(queue, body)).ok) accepted.push(body);
      // These three are whitespace in JSON.
      expect(accepted).toEqual(expect.arrayContaining(['"\t"', '"\n"', '"\r"']));
      const deliveries = await receiveSome(one, queue, accepted.length);
      expect(deliveries.map(textOf).toSorted()).toEqual(accepted.toSorted());
    },
  },
  {
    name: '1 MB survives untouched',
    run: async ({ queue, transport }) => expectUntouched(await transport(), queue, [MEGABYTE]),
  },
  {
    name: 'the largest body that the traits allow survives untouched',
    needs: ['refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const { maxBodyBytes } = one.traits;
      expect(maxBodyBytes).toBeGreaterThanOrEqual(256 * 1024);
      await expectUntouched(one, queue, [bodyOf(maxBodyBytes - 1), bodyOf(maxBodyBytes)]);
    },
  },
  {
    name: 'a body that is too big is a failed send, and takes no other with it',
    needs: ['refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const { maxBodyBytes } = one.traits;
      // The limit counts bytes: this one has fewer characters than that.
      const wide = `"${'é'.repeat(maxBodyBytes / 2)}"`;
      const bodies = ['"before"', bodyOf(maxBodyBytes + 1), wide, '"after"'];
      const replies = await Promise.all(bodies.map((body) => one.send(queue, body)));
      expect(replies.map(({ ok }) => ok)).toEqual([true, false, false, true]);
      for (const reply of replies) if (!reply.ok) expect(reply.problem).toMatch(/\d/);
      const arrived = await receiveSome(one, queue, 2);
      expect(arrived.map(textOf).toSorted()).toEqual(['"after"', '"before"']);
    },
  },
  {
    name: 'a batch in which one entry fails reports exactly that one',
    needs: ['batchesSends', 'failsSingleSends'],
    run: async ({ broker: bench, queue, breakableTransport }) => {
      const one = await breakableTransport();
      const bodies = Array.from({ length: 10 }, (_, index) => `{"batch":"${queue}","n":${index}}`);
      const [, , , chosen] = bodies;
      const stop = bench.failEntries((body) => body === chosen);
      const replies = await Promise.all(bodies.map((body) => one.send(queue, body)));
      stop();
      expect(bodies.filter((_, index) => !replies[index]?.ok)).toEqual([chosen]);
      const arrived = await receiveSome(one, queue, 9);
      expect(arrived.map(textOf).toSorted()).toEqual(bodies.filter((body) => body !== chosen).toSorted());
      await receiveNothing(one, queue, 0);
    },
  },
];
