import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** What pip reads for a handler's `requirements.txt`: nothing, that file alone, or files and folders beside it. */
export type Requirements =
  | { readonly kind: 'none' | 'alone' | 'with-others' }
  /** Something that `list` names is not in the folder. */
  | { readonly kind: 'missing'; readonly path: string; readonly list: string };

interface Named {
  readonly path: string;
  readonly isList: boolean;
}

const REQUIREMENTS = 'requirements.txt';

/** `app` is what the image has: what was left out of it counts as not there. */
export function readRequirements(app: string): Requirements {
  if (!existsSync(join(app, REQUIREMENTS))) return { kind: 'none' };
  const lists = new Set([resolve(app, REQUIREMENTS)]);
  let isAlone = true;
  // A set that grows while it is gone through is gone through to its end.
  for (const list of lists) {
    for (const { path, isList } of namedIn(readFileSync(list, 'utf8'))) {
      isAlone = false;
      // As pip does: lists are found from the one that names them, all else from where pip is run.
      const place = resolve(isList ? dirname(list) : app, path);
      const isInside = place === resolve(app) || place.startsWith(`${resolve(app)}${sep}`);
      if (!isInside || !existsSync(place)) return { kind: 'missing', path, list: relative(app, list) };
      if (isList) lists.add(place);
    }
  }
  return { kind: isAlone ? 'alone' : 'with-others' };
}

const LIST = /^(?:-[rc]\s*|--(?:requirement|constraint)[\s=]\s*)(.+)$/;
const PLACE = /^(?:-[ef]\s*|--(?:editable|find-links)[\s=]\s*)(.+)$/;
const FROM_ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i;
/** `name @ address`: always an address. */
const WITH_ADDRESS = /^[\w.-]+\s*(?:\[[^\]]*\])?\s*@/;
/** Where no option says so, pip takes for a path what looks like one. */
const LIKE_A_PATH = /^\.|\/|\.(?:whl|zip|tgz|tar(?:\.\w+)?)$/i;

/** Files and folders that a list names; what has an address is not among them. */
function namedIn(text: string): readonly Named[] {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines.flatMap((whole): readonly Named[] => {
    const line = whole.replace(/(^|\s)#.*$/, '').trim();
    const list = LIST.exec(line)?.[1];
    const place = PLACE.exec(line)?.[1];
    const path = bare(list ?? place ?? line);
    if (FROM_ELSEWHERE.test(path) || WITH_ADDRESS.test(path)) return [];
    if (list !== undefined) return [{ path, isList: true }];
    if (place !== undefined) return [{ path, isList: false }];
    return !line.startsWith('-') && LIKE_A_PATH.test(path) ? [{ path, isList: false }] : [];
  });
}

/** Without what may stand around a path: conditions, hashes, extras and quotes. */
function bare(text: string): string {
  return text
    .replace(/;.*$|\s--.*$/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/\[[^\]]*\]$/, '');
}
