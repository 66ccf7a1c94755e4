import {
  attemptText,
  type EventFacts,
  eventText,
  FAILURE_RECORDED,
  NOT_ACKNOWLEDGED,
  nextAttemptText,
  type PolicyChoice,
  pauseText,
  policyText,
} from '../../core/delivery/event-text.ts';
import type { Result } from '../../core/delivery/plan.ts';
import { DEFAULT_POLICY } from '../../core/policy/policy.ts';
import { defined } from '../../core/text/defined.ts';

/** One line of a function's log in the form in which it is shown to people. */
export type LogLine =
  | {
      readonly kind: 'delivery';
      readonly time: string;
      readonly actor: string;
      readonly envelopeId: string;
      readonly attempt: number;
      readonly settle: 'ack' | 'release';
      readonly isFailure: boolean;
      /** The actor is done with the envelope. Absent if it was sent again, or will be redelivered. */
      readonly end?: 'done' | 'failed';
      readonly text: string;
    }
  /** One line that the handler's process printed, with its indentation and its full length. */
  | {
      readonly kind: 'output';
      readonly time: string;
      readonly actor: string;
      /** Absent if no call was in progress, or several. */
      readonly envelopeId?: string;
      /** The handler was not loaded yet, or a host printed the line. Such lines come again with every start. */
      readonly isStarting?: true;
      readonly text: string;
    }
  | {
      readonly kind: 'other';
      readonly time: string;
      readonly actor: string;
      readonly level: string;
      /** Set if the line is about the start of the handler's process. */
      readonly start?: 'ready' | 'failed';
      readonly text: string;
    };

/** Returns undefined for lines that are not shown, such as metrics. */
export function readLogLine(actor: string, line: string): LogLine | undefined {
  const fields = fieldsOf(line);
  const now = new Date().toISOString();
  if (fields === undefined)
    return line.trim() === ''
      ? undefined
      : { kind: 'output', time: now, actor, isStarting: true, text: line };
  if ('_aws' in fields) return undefined;
  const time = textOf(fields['time']) || now;
  const envelopeId = textOf(fields['envelopeId']);
  switch (fields['message']) {
    case 'delivery':
      return {
        kind: 'delivery',
        time,
        actor,
        envelopeId,
        attempt: Number(fields['attempt'] ?? 1),
        settle: fields['settle'] === 'release' ? 'release' : 'ack',
        isFailure: fields['level'] === 'error',
        ...defined({ end: endOf(fields) }),
        text: deliveryText(fields),
      };
    case 'runtime':
      return {
        kind: 'output',
        time,
        actor,
        ...(envelopeId === '' ? {} : { envelopeId }),
        ...(fields['isStarting'] === true && { isStarting: true }),
        text: textOf(fields['text']),
      };
    case 'progress':
      return { kind: 'output', time, actor, envelopeId, text: `progress: ${progressText(fields)}` };
    case 'failure':
      // The delivery lines of the actor and of x-sump say the same to people.
      return { kind: 'other', time, actor, level: 'info', text: otherText(fields) };
    default:
      return {
        kind: 'other',
        time,
        actor,
        level: textOf(fields['level']),
        ...defined({ start: startOf(fields) }),
        text: otherText(fields),
      };
  }
}

/** Results with which an actor is done with an envelope. */
const DONE: readonly string[] = [
  'success',
  'empty_response',
  'end_consumed',
  'policy_routed',
] satisfies Result[];
/** Results with which an envelope ends as failed although no failure is counted. */
const FAILED: readonly string[] = ['escalated', 'dropped'] satisfies Result[];

function endOf(fields: Fields): 'done' | 'failed' | undefined {
  if (fields['settle'] === 'release') return undefined;
  const { results, failed } = resultsOf(fields);
  if (failed.length > 0 || results.some((result) => FAILED.includes(result))) return 'failed';
  return results.some((result) => DONE.includes(result)) ? 'done' : undefined;
}

function startOf({ message, isStarting }: Fields): 'ready' | 'failed' | undefined {
  if (message === 'the runtime started') return 'ready';
  return message === 'the runtime ended' && isStarting === true ? 'failed' : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(line: string): Fields | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** "retried, attempt 1 of 3, next in 2 s · rule 2, policy "slow" · ValueError: n is negative · 12 ms" */
function deliveryText(fields: Fields): string {
  const { policy, rule, problem, processingMs, settle } = fields;
  const parts = [
    headText(fields),
    ...(settle === 'release' ? [`${NOT_ACKNOWLEDGED}: it will be redelivered`] : []),
    ...(typeof policy === 'string' ? [policyText(choiceFrom(policy, rule))] : []),
    ...(typeof problem === 'string' ? [problem] : []),
    ...(typeof processingMs === 'number' ? [`${processingMs} ms`] : []),
  ];
  return parts.join(' · ');
}

/** The event, the attempt, and where the envelope goes. */
function headText(fields: Fields): string {
  const { to, policy, maxAttempts, retryInMs, failureOf } = fields;
  const attempt = Number(fields['attempt'] ?? 1);
  const most = typeof maxAttempts === 'number' ? maxAttempts : undefined;
  const facts = resultsOf(fields);
  const event = eventText({ ...facts, hasPolicy: typeof policy === 'string' });
  // The attempt of an envelope that has ended is the one of its last actor.
  const isEnd = facts.results.includes('end_consumed' satisfies Result);
  const isRetry = typeof retryInMs === 'number';
  return [
    typeof failureOf === 'string' ? `${FAILURE_RECORDED} (${failureOf})` : event,
    ...(!isEnd && (most !== undefined || attempt > 1 || isRetry) ? [`, ${attemptText(attempt, most)}`] : []),
    ...(isRetry ? [`, ${nextAttemptText(retryInMs)}`] : []),
    // A retry goes to the actor itself.
    ...(typeof to === 'string' && !isRetry ? [` → ${to.replaceAll(',', ', ')}`] : []),
  ].join('');
}

function choiceFrom(policy: string, rule: unknown): PolicyChoice {
  // Without a rule it is the default policy, or the built-in one for lost connections.
  return rule === undefined
    ? { policy, isBuiltIn: policy !== DEFAULT_POLICY }
    : { policy, rule: Number(rule) };
}

function resultsOf({ outcome, failed }: Fields): Pick<EventFacts, 'results' | 'failed'> {
  return {
    results: textOf(outcome).split(',').filter(Boolean),
    failed: textOf(failed).split(',').filter(Boolean),
  };
}

/** "frame 3 of 9 (33 %)" */
function progressText({ percent, text }: Fields): string {
  const percentText = typeof percent === 'number' ? `${percent} %` : '';
  if (typeof text !== 'string') return percentText;
  return percentText === '' ? text : `${text} (${percentText})`;
}

function otherText(fields: Fields): string {
  const { message, time: _time, level: _level, actor: _actor, ...details } = fields;
  if (message === 'the runtime ended') return endedText(fields);
  const rest = Object.entries(details).map(([key, value]) => `${key}=${String(value)}`);
  return [textOf(message), ...rest].join(' ');
}

function endedText({ reason, isStarting, restartInMs }: Fields): string {
  const during = isStarting === true ? ' while it was starting' : '';
  return `the handler's process ${textOf(reason)}${during}; it starts again in ${pauseText(Number(restartInMs))}`;
}

/** Returns a filter for repeated lines that differ only in numbers. A runtime that cannot start prints the same again. */
export function repeatFilter(): (line: LogLine) => boolean {
  const seen = new Map<string, Set<string>>();
  return (line) => {
    if (line.kind === 'delivery') return seen.delete(line.actor) || true;
    // The pause before the next start grows, and its unit changes.
    const isFailedStart = line.kind === 'other' && line.start === 'failed';
    const text = isFailedStart ? line.start : line.text.replace(/\d+/g, '#');
    const known = seen.get(line.actor) ?? new Set();
    const isNew = !known.has(text) || (line.kind === 'output' && line.isStarting === undefined);
    seen.set(line.actor, known.add(text));
    return isNew;
  };
}
