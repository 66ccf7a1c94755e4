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
      readonly text: string;
    }
  /** Output of the user's handler. */
  | {
      readonly kind: 'output';
      readonly time: string;
      readonly actor: string;
      readonly envelopeId?: string;
      readonly text: string;
    }
  | {
      readonly kind: 'other';
      readonly time: string;
      readonly actor: string;
      readonly level: string;
      readonly text: string;
    };

/** Returns undefined for lines that are not shown, such as metrics. */
export function readLogLine(actor: string, line: string): LogLine | undefined {
  const fields = fieldsOf(line);
  const now = new Date().toISOString();
  if (fields === undefined)
    return line.trim() === '' ? undefined : { kind: 'output', time: now, actor, text: line };
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
        text: deliveryText(fields),
      };
    case 'runtime':
      return {
        kind: 'output',
        time,
        actor,
        ...(envelopeId === '' ? {} : { envelopeId }),
        text: textOf(fields['text']),
      };
    case 'progress':
      return { kind: 'output', time, actor, envelopeId, text: `progress: ${progressText(fields)}` };
    default:
      return { kind: 'other', time, actor, level: textOf(fields['level']), text: otherText(fields) };
  }
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

/** "retried → score · policy default, rule 2 · ValueError: n is negative · 12 ms" */
function deliveryText(fields: Fields): string {
  const { outcome, failed, to, policy, rule, problem, processingMs, settle } = fields;
  const ends = [outcome, failed]
    .filter((word) => typeof word === 'string')
    .join(',')
    .replaceAll(',', ', ');
  const parts = [
    `${ends === '' ? 'done' : ends}${typeof to === 'string' ? ` → ${to}` : ''}`,
    ...(settle === 'release' ? ['not acknowledged: it will be redelivered'] : []),
    ...(typeof policy === 'string'
      ? [`policy ${policy}${rule === undefined ? '' : `, rule ${Number(rule) + 1}`}`]
      : []),
    ...(typeof problem === 'string' ? [problem] : []),
    ...(typeof processingMs === 'number' ? [`${processingMs} ms`] : []),
  ];
  return parts.join(' · ');
}

/** "frame 3 of 9 (33 %)" */
function progressText({ percent, text }: Fields): string {
  const percentText = typeof percent === 'number' ? `${percent} %` : '';
  if (typeof text !== 'string') return percentText;
  return percentText === '' ? text : `${text} (${percentText})`;
}

function otherText({ message, time: _time, level: _level, actor: _actor, ...details }: Fields): string {
  const rest = Object.entries(details).map(([key, value]) => `${key}=${String(value)}`);
  return [textOf(message), ...rest].join(' ');
}

/** Returns a filter for repeated lines that differ only in numbers. A runtime that cannot start prints the same again. */
export function repeatFilter(): (line: LogLine) => boolean {
  const seen = new Map<string, Set<string>>();
  return (line) => {
    if (line.kind === 'delivery') return seen.delete(line.actor) || true;
    const text = line.text.replace(/\d+/g, '#');
    const known = seen.get(line.actor) ?? new Set();
    const isNew = !known.has(text) || (line.kind === 'output' && line.envelopeId !== undefined);
    seen.set(line.actor, known.add(text));
    return isNew;
  };
}
