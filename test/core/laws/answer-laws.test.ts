import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { type Answer, answerFromHttp, answerFromSocket } from '../../../lib/core/delivery/answer.ts';
import { answerFromEventStream, answerFromFrames } from '../../../lib/core/delivery/answer-envelope.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { law } from '../law.ts';
import { faults } from './arbitraries.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { anyTexts, documentTexts, jsonTexts, mutatedTexts, parses } from './json-arbitraries.ts';
import { errorObjects } from './policy-arbitraries.ts';
import { dispatchesOf, originAt, processUncached } from './process-delivery.ts';

const routeTexts = fc.constantFrom(
  '{"prev":["fetch"],"curr":"score","next":["store"]}',
  '{"prev":["fetch","score"],"curr":"store","next":[]}',
  '{"prev":["fetch","score"],"curr":"","next":[]}',
  '{"prev":[],"curr":"score","next":[5,null,{"a":[[]]}]}',
  '{"prev":[],"curr":"score","next":["x-sump"]}',
  '{"prev":7}',
  'null',
  '[]',
);
const frameTexts = fc
  .tuple(jsonTexts, fc.option(routeTexts), fc.option(fc.oneof(documentTexts, fc.constant('{"_on_error":5}'))))
  .map(([payload, route, headers]) => {
    const parts = [`"payload":${payload}`, route && `"route":${route}`, headers && `"headers":${headers}`];
    return `{${parts.filter((part) => part !== null).join(',')}}`;
  });
const framesTexts = fc.array(frameTexts, { maxLength: 3 }).map((texts) => `{"frames":[${texts.join(',')}]}`);
const errorTexts = errorObjects.map(({ isNested, fields }) =>
  JSON.stringify(isNested ? { error: 'code', details: fields } : { error: 'code', ...fields }),
);
const events = fc.tuple(
  fc.constantFrom(...Array<'downstream'>(6).fill('downstream'), 'upstream', 'error'),
  frameTexts,
);
const streamTexts = fc.tuple(fc.array(events, { maxLength: 3 }), fc.boolean()).map(([sent, isDone]) => {
  const all = isDone ? [...sent, ['done', '{}'] as const] : sent;
  return all.map(([name, data]) => `event: ${name}\n${data.replace(/^/gm, 'data:')}\n\n`).join('');
});

const texts = fc
  .oneof(
    documentTexts,
    framesTexts,
    errorTexts,
    streamTexts,
    mutatedTexts(fc.oneof(framesTexts, errorTexts, streamTexts, documentTexts)),
    anyTexts,
  )
  // The text was decoded from UTF-8, so it contains no lone surrogates.
  .filter((text) => text.isWellFormed());

const READERS: Readonly<Record<string, (text: string) => Answer>> = {
  socket: (text) => answerFromSocket(text, 'array'),
  'socket, no fan-out': (text) => answerFromSocket(text, 'never'),
  'http 200': (text) => answerFromHttp({ status: 200, text }, 'array'),
  'http 503': (text) => answerFromHttp({ status: 503, text, retryAfter: text }, 'array'),
  envelope: (text) => answerFromFrames(text, ROUTE),
  stream: (text) => answerFromEventStream(text, ROUTE),
};
const ROUTE = { prev: ['fetch'], curr: 'score', next: ['store'] };

const calls = deliveries({ ...faults, deadline: fc.constant(undefined) });
const [delivery] = fc.sample(calls, { numRuns: 1, seed: 1 }) as [Delivery];

describe('answers of a runtime', () => {
  law(
    'reading an answer never throws, and every delivery continues or fails without losing anything',
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(texts, fc.constantFrom(...Object.keys(READERS))) },
      { weight: 1, arbitrary: fc.tuple(framesTexts, fc.constant('envelope')) },
      { weight: 1, arbitrary: fc.tuple(streamTexts, fc.constant('stream')) },
    ),
    ([text, reader]) => {
      const answer = READERS[reader]?.(text) as Answer;
      if (answer.kind === 'frames') {
        expect(answer.frames).not.toEqual([]);
        for (const { payload } of answer.frames) {
          expect(parses(payload)).toBe(true);
          // The data of an event may have several lines. Other payloads keep their bytes.
          if (reader !== 'stream') expect(text.includes(payload)).toBe(true);
        }
      }
      const { plan } = processUncached({ ...delivery, end: answer });
      expect([plan.settle, plan.dispatches.length > 0]).toEqual(['ack', true]);
      for (const { body } of dispatchesOf(plan)) {
        const arrival = decode(body, originAt(delivery.actor.name));
        expect(arrival.kind === 'readable' ? 'readable' : arrival.problem).toBe('readable');
      }
    },
    ([text, reader]) => `${reader}: ${READERS[reader]?.(text).kind}`,
    [
      'socket: frames',
      'socket: empty',
      'socket: fault',
      'socket: unreachable',
      'http 200: frames',
      'http 503: fault',
      'envelope: frames',
      'envelope: empty',
      'envelope: fault',
      'envelope: unreachable',
      'stream: frames',
      'stream: empty',
      'stream: fault',
      'stream: unreachable',
    ],
  );
});
