import type { FollowedRun } from '../../../app/runs/follow-run.ts';
import type { Task } from '../../../core/task/task.ts';
import { colors as pc } from '../../output/colors.ts';
import { endLine, errorLines } from '../../output/error-lines.ts';
import { oneLine } from '../../output/plain-text.ts';

/** The latest news of an envelope that has not ended. */
export interface LatestStep {
  readonly actor: string;
  readonly attempt: number;
  /** What happens there, for example `running`. A handler's progress (percent and message) belongs here. */
  readonly text?: string;
}

/** The envelopes of a run as a tree: the state of each, its actor, its attempt and its error. */
export function treeLines(
  root: string,
  run: Pick<FollowedRun, 'endOf' | 'childrenOf'>,
  latestOf: (id: string) => LatestStep | undefined,
): readonly string[] {
  const branch = (id: string, first: string, rest: string): readonly string[] => {
    const children = run.childrenOf(id);
    const lines = stateLines(id, run, latestOf);
    const inner = children.length > 0 ? '│  ' : '   ';
    return [
      ...lines.map((line, at) => (at === 0 ? `${first}${line}` : `${rest}${inner}${line}`)),
      ...children.flatMap((child, at) => {
        const isLast = at === children.length - 1;
        return branch(child, `${rest}${isLast ? '└─ ' : '├─ '}`, `${rest}${isLast ? '   ' : '│  '}`);
      }),
    ];
  };
  return branch(root, '', '');
}

function stateLines(
  id: string,
  run: Pick<FollowedRun, 'endOf'>,
  latestOf: (id: string) => LatestStep | undefined,
): readonly string[] {
  const name = pc.bold(oneLine(id));
  const end = run.endOf(id);
  if (end !== undefined) {
    const { record, envelope } = end;
    const text = endLine(record, envelope);
    if (record.end === 'succeeded') return [`${name}  ${pc.green(text)}`];
    return [`${name}  ${pc.red(text)}`, ...(record.end === 'failed' ? errorLines(envelope) : [])];
  }
  const latest = latestOf(id);
  if (latest === undefined) return [`${name}  ${pc.yellow('waiting')}`];
  const { actor, attempt, text = 'running' } = latest;
  return [`${name}  ${pc.yellow(text)} at ${oneLine(actor, 63)}, attempt ${attempt}`];
}

/** What the gateway knows about an envelope of a task that has not ended. */
export function stepOfTask({ id: root, progress, mark, children }: Task, id: string): LatestStep | undefined {
  if (id === root) {
    const actor = progress.current;
    return actor === undefined || mark === undefined ? undefined : { actor, attempt: mark[1] };
  }
  const child = Object.hasOwn(children, id) ? children[id] : undefined;
  return child === undefined ? undefined : { actor: child.actor, attempt: child.mark?.[1] ?? 1 };
}
