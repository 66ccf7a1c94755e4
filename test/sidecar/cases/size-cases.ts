import { type DeliveryCase, toSink } from './delivery-case.ts';

/** More than the rest of the envelope needs. */
const OVERHEAD_BYTES = 4_000;

/** SPEC.md section 3: results around the size limit of the transport. */
export function sizeCases(maxBodyBytes: number): readonly DeliveryCase[] {
  return [
    {
      name: 'fails a result that is too big for the transport, with the original payload',
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
      name: 'sends a result that just fits',
      at: 'score',
      payload: { do: 'big', bytes: maxBodyBytes - OVERHEAD_BYTES },
      calls: 1,
      ends: () => [
        toSink(
          { status: { phase: 'succeeded' } },
          { matches: ({ payload }) => String(payload).length === maxBodyBytes - OVERHEAD_BYTES },
        ),
      ],
    },
  ];
}
