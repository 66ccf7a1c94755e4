import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deliveryFromPush } from '../../../lib/adapters/pubsub/push-delivery.ts';

const SUBSCRIPTION = 'projects/demo/subscriptions/asya-prod-score';

function pushOf(message: unknown, more: object = {}): string {
  return JSON.stringify({ message, subscription: SUBSCRIPTION, ...more });
}

function messageOf(data: string | Uint8Array, more: object = {}): object {
  return {
    data: Buffer.from(data).toString('base64'),
    attributes: { retryCount: '1' },
    messageId: '2070443601311540',
    message_id: '2070443601311540',
    publishTime: '2026-02-26T19:13:55.749Z',
    ...more,
  };
}

describe('a push', () => {
  test('is read as a delivery', () => {
    const reading = deliveryFromPush(pushOf(messageOf('{"n":1}'), { deliveryAttempt: 3 }));
    expect(reading).toEqual({
      delivery: {
        body: Buffer.from('{"n":1}'),
        messageId: '2070443601311540',
        receiveCount: 3,
        queue: 'asya-prod-score',
        handle: undefined,
      },
    });
  });

  test('has a receive count of 1 without a delivery attempt', () => {
    expect(deliveryFromPush(pushOf(messageOf('1')))).toMatchObject({ delivery: { receiveCount: 1 } });
  });

  test('adds the delivery attempts from before the message was dead-lettered', () => {
    const attributes = { CloudPubSubDeadLetterSourceDeliveryCount: '5' };
    const push = pushOf(messageOf('1', { attributes }), { deliveryAttempt: 2 });
    expect(deliveryFromPush(push)).toMatchObject({ delivery: { receiveCount: 7 } });
    const forged = { CloudPubSubDeadLetterSourceDeliveryCount: 'many' };
    expect(deliveryFromPush(pushOf(messageOf('1', { attributes: forged })))).toMatchObject({
      delivery: { receiveCount: 1 },
    });
  });

  test('has an empty body if the message has only attributes', () => {
    const push = pushOf({ messageId: '1', attributes: { a: 'b' } });
    expect(deliveryFromPush(push)).toMatchObject({ delivery: { body: Buffer.from('') } });
  });

  test('preserves every byte', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const reading = deliveryFromPush(pushOf(messageOf(bytes)));
        expect(reading).toMatchObject({ delivery: { body: Buffer.from(bytes) } });
      }),
      { seed: 20_260_101 },
    );
  });
});

describe('an invalid push is refused with a message that does not contain the payload', () => {
  test.each([
    ['not JSON', 'secret', /6 characters.*not a JSON object/],
    ['an array', '["secret"]', /not a JSON object/],
    [
      'an envelope, because payload unwrapping is on',
      '{"payload":"secret"}',
      /"message".*payload unwrapping/,
    ],
    ['a message that is not an object', pushOf(['secret']), /no object "message"/],
    ['no id', pushOf({ data: 'secret==' }), /"messageId"/],
    ['an empty id', pushOf(messageOf('secret', { messageId: '' })), /"messageId"/],
    [
      'no subscription',
      JSON.stringify({ message: messageOf('secret') }),
      /"subscription" of the push is undefined/,
    ],
    [
      'another subscription',
      pushOf(messageOf('secret'), { subscription: 'score' }),
      /"score".*projects\/\{project\}/,
    ],
    ['data that is not text', pushOf(messageOf('', { data: 7 })), /2070443601311540 is not base64/],
    ['data that is not base64', pushOf(messageOf('', { data: 'secret!!' })), /not base64/],
    ['data that was cut off', pushOf(messageOf('', { data: 'secret' })), /not base64/],
    [
      'an invalid delivery attempt',
      pushOf(messageOf('secret'), { deliveryAttempt: 0 }),
      /is 0; expected a whole number, 1 or more/,
    ],
  ])('%s', (_, text, message) => {
    const reading = deliveryFromPush(text);
    expect(reading).toEqual({ problem: expect.stringMatching(message) });
    expect(JSON.stringify(reading)).not.toContain('secret');
  });
});
