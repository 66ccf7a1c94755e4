import { batcher } from '../../async/batcher.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { type ArchiveChoice, archivingOf } from '../../core/failure/archiving.ts';
import { utf8Bytes } from '../../core/text/utf8.ts';
import type { Refusal } from '../../ports/reply.ts';
import { archiveBatch, type EncodedEnvelope } from './archive-batch.ts';
import { type ArchiveDeps, archiveEnvelope, type Recorded, recordOnly } from './archive-envelope.ts';

export interface ArchivingDeps extends ArchiveDeps {
  /** Which envelopes are archived. Default: all. */
  readonly archives?: ArchiveChoice;
}

/** The records of one invocation arrive in the same turn of the event loop. */
const LINGER_MS = 2;
const MAX_ENVELOPES = 100;
/** Reading one envelope reads its whole batch. */
const MAX_BATCH_BYTES = 1024 * 1024;
/** The transport costs more for a larger envelope than an object of its own. */
const MAX_ENVELOPE_BYTES = 64 * 1024;
/** A batch that waits for a store that hangs must not stop the others. */
const MAX_BATCHES_AT_ONCE = 4;

/** Returns what records an end and archives its envelope, alone, in a batch with others, or not at all. */
export function archiving(deps: ArchivingDeps): (envelope: Envelope) => Promise<Recorded | Refusal> {
  const batches = batcher<EncodedEnvelope, Recorded | Refusal>({
    run: (envelopes) => archiveBatch(envelopes, deps),
    maxItems: MAX_ENVELOPES,
    maxBytes: MAX_BATCH_BYTES,
    maxInFlight: MAX_BATCHES_AT_ONCE,
    lingerMs: LINGER_MS,
  });
  return (envelope) => {
    const how = archivingOf(envelope, deps.archives ?? 'all');
    if (how === 'never') return recordOnly(envelope, deps);
    if (how === 'alone') return archiveEnvelope(envelope, deps);
    const text = encode(envelope);
    const bytes = utf8Bytes(text);
    return bytes > MAX_ENVELOPE_BYTES
      ? archiveEnvelope(envelope, deps)
      : batches.add({ envelope, text }, bytes);
  };
}
