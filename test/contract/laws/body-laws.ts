import { expect } from 'vitest';
import type { Transport } from '../../../lib/ports/transport.ts';
import { type Law, OK, receiveNothing, receiveOne, receiveSome, sendAll, textOf } from '../law.ts';

/** Sends bodies, and expects each of them to arrive unchanged. */
async function expectUnchanged(
  transport: Transport,
  queue: string,
  bodies: readonly string[],
): Promise<void> {
  await sendAll(transport, queue, bodies);
  const deliveries = await receiveSome(transport, queue, bodies.length);
  expect(deliveries.map(textOf).toSorted()).toEqual(bodies.toSorted());
}

/** A JSON string of this length in bytes. */
function bodyOf(bytes: number): string {
  return `"${'x'.repeat(bytes - 2)}"`;
}

/** All characters that JSON requires to be escaped, and lone surrogates, which can only be sent escaped. */
const ESCAPED = Array.from({ length: 0x20 }, (_, code) => `\\u${code.toString(16).padStart(4, '0')}`).join(
  '',
);
const ESCAPES = `"${ESCAPED}\\ud800\\udfff\\ufffe\\uffff\\/\\b\\f\\n\\r\\t\\\\\\""`;

const RAW_CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));

/** Characters of one, two and three bytes, at every offset at which a buffer may be split. */
const MEGABYTE = `"${'aé€'.repeat(Math.floor(1_000_000 / 6)).padEnd(500_000, 'x')}"`;

export const BODY_LAWS: readonly Law[] = [
  {
    name: 'delivers the shortest JSON values unchanged',
    run: async ({ queue, transport }) =>
      expectUnchanged(await transport(), queue, ['0', '""', '{}', '[]', 'null', 'false']),
  },
  {
    name: 'delivers JSON unchanged: whitespace, duplicate keys, long numbers',
    run: async ({ queue, transport }) =>
      expectUnchanged(await transport(), queue, [
        ' { "a" : 1 ,\t"a":\n2 }\r\n',
        '{"n":12345678901234567890,"x":1.0e+2,"z":-0}',
      ]),
  },
  {
    name: 'delivers escaped control characters and lone surrogates unchanged',
    run: async ({ queue, transport }) => expectUnchanged(await transport(), queue, [ESCAPES]),
  },
  {
    name: 'delivers Unicode up to U+FFFD unchanged',
    run: async ({ queue, transport }) =>
      expectUnchanged(await transport(), queue, [
        '"äöüß ελληνικά 日本語 עברית"',
        '"\u007f\u0080\u0085\u00a0\u2028\u2029\ufeff\ufffd\ud7ff\ue000"',
        '"e\u0301 is not \u00e9"',
        '"<>&\'%+;=\u200b"',
      ]),
  },
  {
    name: 'delivers characters above U+FFFF unchanged',
    needs: ['rawAstralCharacters'],
    run: async ({ queue, transport }) =>
      expectUnchanged(await transport(), queue, [
        '"\u{1f600}"',
        '"\u{10000}\u{10ffff}\u{1fffe}\u{1ffff}\u{1f469}\u200d\u{1f680}"',
      ]),
  },
  {
    name: 'delivers U+FFFE and U+FFFF in a string as equivalent JSON',
    run: async ({ queue, transport }) => {
      const one = await transport();
      const body = '{"raw":"\ufffe\uffff","escaped":"\\ufffe\\uffff","after":"\\\\\uffff"}';
      expect(await one.send(queue, body)).toEqual(OK);
      expect(JSON.parse(textOf(await receiveOne(one, queue)))).toEqual(JSON.parse(body));
    },
  },
  {
    name: 'delivers raw control characters unchanged, or refuses them',
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
    name: 'delivers 1 MB unchanged',
    run: async ({ queue, transport }) => expectUnchanged(await transport(), queue, [MEGABYTE]),
  },
  {
    name: 'delivers the largest allowed body unchanged',
    needs: ['refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const { maxBodyBytes } = one.traits;
      expect(maxBodyBytes).toBeGreaterThanOrEqual(256 * 1024);
      await expectUnchanged(one, queue, [bodyOf(maxBodyBytes - 1), bodyOf(maxBodyBytes)]);
    },
  },
  {
    name: 'refuses a body that is too large, and accepts others sent at the same time',
    needs: ['refusesLargeBodies'],
    run: async ({ queue, transport }) => {
      const one = await transport();
      const { maxBodyBytes } = one.traits;
      // The limit is in bytes: this body has fewer characters than that.
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
    name: 'reports exactly the entry of a batch that failed',
    needs: ['batchesSends', 'failsSingleSends'],
    run: async ({ broker, queue, breakableTransport }) => {
      const one = await breakableTransport();
      const bodies = Array.from({ length: 10 }, (_, index) => `{"batch":"${queue}","n":${index}}`);
      const [, , , chosen] = bodies;
      const stop = broker.failEntries((body) => body === chosen);
      const replies = await Promise.all(bodies.map((body) => one.send(queue, body)));
      stop();
      expect(bodies.filter((_, index) => !replies[index]?.ok)).toEqual([chosen]);
      const arrived = await receiveSome(one, queue, 9);
      expect(arrived.map(textOf).toSorted()).toEqual(bodies.filter((body) => body !== chosen).toSorted());
      await receiveNothing(one, queue, 0);
    },
  },
];
