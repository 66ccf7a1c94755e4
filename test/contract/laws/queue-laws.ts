import { expect } from 'vitest';
import { type Law, OK, receiveOne, receiveRefusal, sendAll, textOf } from '../law.ts';

const MISSING = { ok: false, problem: expect.any(String), isQueueMissing: true };

export const QUEUE_LAWS: readonly Law[] = [
  {
    name: 'reports a missing queue on send, receive and checkQueue',
    needs: ['reportsMissingQueues'],
    run: async ({ transport, newName }) => {
      const one = await transport();
      const missing = newName();
      expect(await receiveRefusal(one, missing)).toEqual(MISSING);
      expect(await one.send(missing, '1')).toEqual(MISSING);
      expect(await one.checkQueue(missing)).toEqual(MISSING);
    },
  },
  {
    name: 'reports a missing queue when a delivery from a deleted queue is settled',
    needs: ['reportsMissingQueues'],
    run: async ({ broker, queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['1']);
      const delivery = await receiveOne(one, queue);
      await broker.deleteQueue(queue);
      const replies = await Promise.all([one.ack(delivery), one.nack(delivery, 0), one.extend(delivery)]);
      expect(replies).toEqual([MISSING, MISSING, MISSING]);
    },
  },
  {
    name: 'reports a missing queue on a delayed send',
    needs: ['reportsMissingQueues', 'delays'],
    run: async ({ transport, newName }) => {
      expect(await (await transport()).sendWithDelay(newName(), '1', 1)).toEqual(MISSING);
    },
  },
  {
    name: 'recovers from a missing queue as soon as it exists',
    needs: ['reportsMissingQueues'],
    run: async ({ broker, transport, newName }) => {
      const one = await transport();
      const late = newName();
      expect(await receiveRefusal(one, late)).toEqual(MISSING);
      expect(await one.send(late, '1')).toEqual(MISSING);
      await broker.createQueue(late);
      expect(await one.send(late, '"healed"')).toEqual(OK);
      expect(textOf(await receiveOne(one, late))).toBe('"healed"');
    },
  },
  {
    name: 'recovers when a deleted queue is created again',
    needs: ['reportsMissingQueues'],
    run: async ({ broker, queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['"known"']);
      await receiveOne(one, queue);
      await broker.deleteQueue(queue);
      expect(await receiveRefusal(one, queue)).toEqual(MISSING);
      expect(await one.send(queue, '1')).toEqual(MISSING);
      await broker.createQueue(queue);
      expect(await one.send(queue, '"back"')).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"back"');
    },
  },
  {
    name: 'checkQueue reports whether the queue exists now',
    needs: ['reportsMissingQueues'],
    run: async ({ broker, queue, transport }) => {
      const one = await transport();
      expect(await one.checkQueue(queue)).toEqual(OK);
      await broker.deleteQueue(queue);
      expect(await one.checkQueue(queue)).toEqual(MISSING);
      await broker.createQueue(queue);
      expect(await one.checkQueue(queue)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue creates the queue and its dead-letter queue, ready for use',
    needs: ['createsQueues'],
    run: async ({ transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.checkQueue(made)).toEqual(OK);
      expect(await one.checkQueue(`${made}-dlq`)).toEqual(OK);
      expect(await one.send(made, '"first"')).toEqual(OK);
      expect(textOf(await receiveOne(one, made))).toBe('"first"');
    },
  },
  {
    name: 'ensureQueue creates them with the planned attributes',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker, transport, newName }) => {
      const visibilityMs = 77_000;
      const one = await transport({ visibilityMs });
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      for (const [name, planned] of Object.entries(broker.plannedQueues(made, visibilityMs))) {
        expect(await broker.describeQueue(name), name).toEqual(planned);
      }
    },
  },
  {
    name: 'ensureQueue does not affect messages of an existing queue',
    needs: ['createsQueues'],
    run: async ({ queue, transport }) => {
      const one = await transport({ visibilityMs: 77_000 });
      await sendAll(one, queue, ['"kept"']);
      expect(await one.ensureQueue(queue)).toMatchObject(OK);
      expect(await one.ensureQueue(queue)).toMatchObject(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"kept"');
    },
  },
  {
    name: 'ensureQueue does not change a queue with other attributes',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker, queue, deadLetterQueue, transport }) => {
      const before = [await broker.describeQueue(queue), await broker.describeQueue(deadLetterQueue)];
      expect(await (await transport({ visibilityMs: 77_000 })).ensureQueue(queue)).toMatchObject(OK);
      const after = [await broker.describeQueue(queue), await broker.describeQueue(deadLetterQueue)];
      expect(after).toEqual(before);
    },
  },
  {
    name: 'ensureQueue reports differences from the plan, if there are any',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker, transport, newName }) => {
      const one = await transport();
      const [made, plain] = [newName(), newName()];
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.ensureQueue(made)).toEqual(OK);
      await broker.createPlainQueue(plain);
      const before = await broker.describeQueue(plain);
      const reply = await one.ensureQueue(plain);
      expect(reply).toEqual({ ok: true, differences: expect.any(Array) });
      expect('differences' in reply && reply.differences?.[0]).toMatch(/ is .*, expected /);
      expect(await broker.describeQueue(plain)).toEqual(before);
    },
  },
  {
    name: 'concurrent ensureQueue calls of two transports create one queue',
    needs: ['createsQueues'],
    run: async ({ transport, newName }) => {
      const [one, other] = [await transport(), await transport()];
      const made = newName();
      const replies = await Promise.all([
        one.ensureQueue(made),
        one.ensureQueue(made),
        other.ensureQueue(made),
      ]);
      expect(replies).toEqual([OK, OK, OK]);
      expect(await one.send(made, '"one"')).toEqual(OK);
      expect(textOf(await receiveOne(other, made))).toBe('"one"');
    },
  },
  {
    name: 'concurrent ensureQueue calls with different visibility timeouts create one queue',
    needs: ['createsQueues'],
    run: async ({ transport, newName }) => {
      const [one, other] = [
        await transport({ visibilityMs: 77_000 }),
        await transport({ visibilityMs: 88_000 }),
      ];
      for (let round = 0; round < 5; round++) {
        const made = newName();
        const replies = await Promise.all([one.ensureQueue(made), other.ensureQueue(made)]);
        expect(replies).toEqual([expect.objectContaining(OK), expect.objectContaining(OK)]);
        expect(await one.send(made, '"one"')).toEqual(OK);
      }
    },
  },
  {
    name: 'ensureQueue recreates a queue that was deleted after it created it',
    needs: ['createsQueues', 'reportsMissingQueues'],
    run: async ({ broker, transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      await sendAll(one, made, ['1']);
      await broker.deleteQueue(made);
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.checkQueue(made)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue recreates a deleted dead-letter queue',
    needs: ['createsQueues', 'reportsMissingQueues', 'describesQueues'],
    run: async ({ broker, transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      await broker.deleteQueue(`${made}-dlq`);
      expect(await one.ensureQueue(made)).toMatchObject(OK);
      expect(await one.checkQueue(`${made}-dlq`)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue creates the queue if only its dead-letter queue exists, created elsewhere',
    needs: ['createsQueues'],
    run: async ({ broker, transport, newName }) => {
      const one = await transport();
      const made = newName();
      await broker.createPlainQueue(`${made}-dlq`);
      expect(await one.ensureQueue(made)).toMatchObject(OK);
      expect(await one.checkQueue(made)).toEqual(OK);
    },
  },
];
