import { expect } from 'vitest';
import { type Law, OK, receiveOne, receiveRefusal, sendAll, textOf } from '../law.ts';

const MISSING = { ok: false, problem: expect.any(String), isQueueMissing: true };

export const QUEUE_LAWS: readonly Law[] = [
  {
    name: 'a missing queue is a refusal that says so, whoever sends or receives',
    needs: ['reportsMissingQueues'],
    run: async ({ transport, newName }) => {
      const one = await transport();
      const missing = newName();
      expect(await receiveRefusal(one, missing)).toEqual(MISSING);
      expect(await one.send(missing, '1')).toEqual(MISSING);
      expect(await one.reach(missing)).toEqual(MISSING);
    },
  },
  {
    name: 'settling what came from a queue that is gone is refused as such',
    needs: ['reportsMissingQueues'],
    run: async ({ broker: bench, queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['1']);
      const delivery = await receiveOne(one, queue);
      await bench.deleteQueue(queue);
      const replies = await Promise.all([one.ack(delivery), one.nack(delivery, 0), one.extend(delivery)]);
      expect(replies).toEqual([MISSING, MISSING, MISSING]);
    },
  },
  {
    name: 'a delayed send to a missing queue is refused as such',
    needs: ['reportsMissingQueues', 'delays'],
    run: async ({ transport, newName }) => {
      expect(await (await transport()).sendWithDelay(newName(), '1', 1)).toEqual(MISSING);
    },
  },
  {
    name: 'a missing queue heals as soon as it is there',
    needs: ['reportsMissingQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const one = await transport();
      const late = newName();
      expect(await receiveRefusal(one, late)).toEqual(MISSING);
      expect(await one.send(late, '1')).toEqual(MISSING);
      await bench.createQueue(late);
      expect(await one.send(late, '"healed"')).toEqual(OK);
      expect(textOf(await receiveOne(one, late))).toBe('"healed"');
    },
  },
  {
    name: 'a queue that was deleted and made again works again',
    needs: ['reportsMissingQueues'],
    run: async ({ broker: bench, queue, transport }) => {
      const one = await transport();
      await sendAll(one, queue, ['"known"']);
      await receiveOne(one, queue);
      await bench.deleteQueue(queue);
      expect(await receiveRefusal(one, queue)).toEqual(MISSING);
      expect(await one.send(queue, '1')).toEqual(MISSING);
      await bench.createQueue(queue);
      expect(await one.send(queue, '"back"')).toEqual(OK);
      expect(textOf(await receiveOne(one, queue))).toBe('"back"');
    },
  },
  {
    name: 'reach says whether the queue is there now',
    needs: ['reportsMissingQueues'],
    run: async ({ broker: bench, queue, transport }) => {
      const one = await transport();
      expect(await one.reach(queue)).toEqual(OK);
      await bench.deleteQueue(queue);
      expect(await one.reach(queue)).toEqual(MISSING);
      await bench.createQueue(queue);
      expect(await one.reach(queue)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue makes the queue and its dead-letter queue, ready for use',
    needs: ['createsQueues'],
    run: async ({ transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.reach(made)).toEqual(OK);
      expect(await one.reach(`${made}-dlq`)).toEqual(OK);
      expect(await one.send(made, '"first"')).toEqual(OK);
      expect(textOf(await receiveOne(one, made))).toBe('"first"');
    },
  },
  {
    name: 'ensureQueue makes them as planned',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const visibilityMs = 77_000;
      const one = await transport({ visibilityMs });
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      for (const [name, planned] of Object.entries(bench.plannedQueues(made, visibilityMs))) {
        expect(await bench.describeQueue(name), name).toEqual(planned);
      }
    },
  },
  {
    name: 'ensureQueue is harmless where they are there',
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
    name: 'ensureQueue leaves a queue of other attributes as it is',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker: bench, queue, deadLetterQueue, transport }) => {
      const before = [await bench.describeQueue(queue), await bench.describeQueue(deadLetterQueue)];
      expect(await (await transport({ visibilityMs: 77_000 })).ensureQueue(queue)).toMatchObject(OK);
      const after = [await bench.describeQueue(queue), await bench.describeQueue(deadLetterQueue)];
      expect(after).toEqual(before);
    },
  },
  {
    name: 'ensureQueue reports what differs from the plan, and nothing if nothing does',
    needs: ['createsQueues', 'describesQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const one = await transport();
      const [made, plain] = [newName(), newName()];
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.ensureQueue(made)).toEqual(OK);
      await bench.createPlainQueue(plain);
      const before = await bench.describeQueue(plain);
      const reply = await one.ensureQueue(plain);
      expect(reply).toEqual({ ok: true, differences: expect.any(Array) });
      expect('differences' in reply && reply.differences?.[0]).toMatch(/ is .*, expected /);
      expect(await bench.describeQueue(plain)).toEqual(before);
    },
  },
  {
    name: 'ensureQueue twice at once, from two transports, makes one queue',
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
    name: 'ensureQueue by two at once, each with a visibility of its own, makes one queue',
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
    name: 'ensureQueue makes a queue again that it knew and that was deleted since',
    needs: ['createsQueues', 'reportsMissingQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      await sendAll(one, made, ['1']);
      await bench.deleteQueue(made);
      expect(await one.ensureQueue(made)).toEqual(OK);
      expect(await one.reach(made)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue makes a dead-letter queue again that was deleted since',
    needs: ['createsQueues', 'reportsMissingQueues', 'describesQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const one = await transport();
      const made = newName();
      expect(await one.ensureQueue(made)).toEqual(OK);
      await bench.deleteQueue(`${made}-dlq`);
      expect(await one.ensureQueue(made)).toMatchObject(OK);
      expect(await one.reach(`${made}-dlq`)).toEqual(OK);
    },
  },
  {
    name: 'ensureQueue makes the queue where only its dead-letter queue is left, made by other hands',
    needs: ['createsQueues'],
    run: async ({ broker: bench, transport, newName }) => {
      const one = await transport();
      const made = newName();
      await bench.createPlainQueue(`${made}-dlq`);
      expect(await one.ensureQueue(made)).toMatchObject(OK);
      expect(await one.reach(made)).toEqual(OK);
    },
  },
];
