import { describeValue } from '../../core/text/describe-value.ts';
import { durationText } from '../../core/text/duration.ts';
import { type Mistake, mistakeCollector } from '../../core/text/mistake.ts';
import { namespace as namespaceKind } from '../settings/kinds.ts';
import type { PlanSettings } from './function-plan.ts';
import { MAX_RETENTION_SECONDS, MIN_RECEIVE_COUNT, queuePlan } from './queue-plan.ts';

/** The lowest `MaximumConcurrency` of an event source for SQS. */
export const MIN_REPLICAS = 2;

/** The longest `MaximumBatchingWindowInSeconds` of an event source. */
export const MAX_WINDOW_SECONDS = 300;

/** The limits of SQS. */
const MAX_RECEIVES = 1_000;
const MIN_RETENTION_SECONDS = 60;

/** Mistakes that concern all actors. */
export function settingsMistakes(settings: PlanSettings): readonly Mistake[] {
  const { namespace, queues, replicaLimit, crewReplicas, archiveWindowSeconds = 0 } = settings;
  const mistakes: Mistake[] = [];
  const notes = mistakeCollector(mistakes, '');
  const reading = namespace === undefined ? undefined : namespaceKind.read(namespace);
  if (reading !== undefined && 'problem' in reading)
    notes.at('namespace').add(`is ${describeValue(namespace)}; ${reading.problem}`);
  const { maxReceiveCount, retentionSeconds, deadLetterRetentionSeconds } = queuePlan(0, queues);
  if (maxReceiveCount < MIN_RECEIVE_COUNT) {
    notes
      .at('maxReceiveCount')
      .add(
        `is ${maxReceiveCount}; polls that Lambda throttles count as receives, so messages that never failed would be dead-lettered; expected ${MIN_RECEIVE_COUNT} or more`,
      );
  } else if (!Number.isInteger(maxReceiveCount) || maxReceiveCount > MAX_RECEIVES) {
    notes
      .at('maxReceiveCount')
      .add(`is ${maxReceiveCount}; expected a whole number from ${MIN_RECEIVE_COUNT} to ${MAX_RECEIVES}`);
  }
  if (retentionSeconds < MIN_RETENTION_SECONDS)
    notes
      .at('retention')
      .add(
        `is ${secondsText(retentionSeconds)}; SQS keeps messages for at least ${secondsText(MIN_RETENTION_SECONDS)}`,
      );
  if (deadLetterRetentionSeconds <= retentionSeconds) {
    notes
      .at('deadLetterRetention')
      .add(
        `is ${secondsText(deadLetterRetentionSeconds)}, which is not longer than the retention of the queues (${secondsText(retentionSeconds)}): a dead-lettered message keeps its age and could expire immediately; expected more, up to ${secondsText(MAX_RETENTION_SECONDS)}, or a lower retention`,
      );
  } else if (deadLetterRetentionSeconds > MAX_RETENTION_SECONDS) {
    notes
      .at('deadLetterRetention')
      .add(
        `is ${secondsText(deadLetterRetentionSeconds)}; SQS keeps messages for at most ${secondsText(MAX_RETENTION_SECONDS)}`,
      );
  }
  for (const [key, replicas] of Object.entries({ concurrency: replicaLimit, crewConcurrency: crewReplicas }))
    if (replicas !== undefined && replicas < MIN_REPLICAS)
      notes
        .at(key)
        .add(`is ${replicas}; expected ${MIN_REPLICAS} or more, the minimum of an SQS event source`);
  if (archiveWindowSeconds > MAX_WINDOW_SECONDS)
    notes
      .at('archiveWindow')
      .add(
        `is ${secondsText(archiveWindowSeconds)}; an SQS event source collects messages for at most ${secondsText(MAX_WINDOW_SECONDS)}`,
      );
  return mistakes;
}

export function secondsText(seconds: number): string {
  return durationText(seconds * 1000);
}
