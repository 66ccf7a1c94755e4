import { type Fate, toSink } from './fate.ts';

/** Enough for all that stands around a payload. */
const ROOM_BYTES = 4_000;

/** SPEC.md section 3: results beside the limit of the transport. */
export function sizeFates(maxBodyBytes: number): readonly Fate[] {
  return [
    {
      name: 'a result too big for the transport fails with the payload that came',
      at: 'score',
      payload: { do: 'big', bytes: maxBodyBytes },
      calls: 1,
      ends: ({ payload }) => [
        toSink({
          payload,
          status: { phase: 'failed', reason: 'RuntimeError', error: { type: 'PayloadTooLarge' } },
        }),
      ],
    },
    {
      name: 'a result that just fits arrives',
      at: 'score',
      payload: { do: 'big', bytes: maxBodyBytes - ROOM_BYTES },
      calls: 1,
      ends: () => [
        toSink(
          { status: { phase: 'succeeded' } },
          { holds: ({ payload }) => String(payload).length === maxBodyBytes - ROOM_BYTES },
        ),
      ],
    },
  ];
}
