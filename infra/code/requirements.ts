import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/**
 * What pip reads for a handler's `requirements.txt`: `none` if there is no such file, `one-file` if pip reads only this file,
 * `with-local-files` if it refers to other local files or folders.
 */
export type Requirements =
  | { readonly kind: 'none' | 'one-file' | 'with-local-files' }
  /** The file `list` refers to a `path` that is not in the folder. */
  | { readonly kind: 'missing'; readonly path: string; readonly list: string };

interface Reference {
  readonly path: string;
  readonly isList: boolean;
}

const REQUIREMENTS = 'requirements.txt';

/** `app` is the folder that is copied into the image. Files that were not copied count as missing. */
export function readRequirements(app: string): Requirements {
  if (!existsSync(join(app, REQUIREMENTS))) return { kind: 'none' };
  const lists = new Set([resolve(app, REQUIREMENTS)]);
  let isOneFile = true;
  // The loop also visits the lists that are added to the set while it runs.
  for (const list of lists) {
    for (const { path, isList } of referencesIn(readFileSync(list, 'utf8'))) {
      isOneFile = false;
      // As in pip, lists are relative to the list that refers to them, and other paths to pip's working directory.
      const place = resolve(isList ? dirname(list) : app, path);
      const isInside = place === resolve(app) || place.startsWith(`${resolve(app)}${sep}`);
      if (!isInside || !existsSync(place)) return { kind: 'missing', path, list: relative(app, list) };
      if (isList) lists.add(place);
    }
  }
  return { kind: isOneFile ? 'one-file' : 'with-local-files' };
}

const LIST = /^(?:-[rc]\s*|--(?:requirement|constraint)[\s=]\s*)(.+)$/;
const PLACE = /^(?:-[ef]\s*|--(?:editable|find-links)[\s=]\s*)(.+)$/;
const FROM_ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i;
/** `name @ address`: never a local path. */
const WITH_ADDRESS = /^[\w.-]+\s*(?:\[[^\]]*\])?\s*@/;
/** pip treats an argument without an option as a path if it looks like one. */
const LIKE_A_PATH = /^\.|\/|\.(?:whl|zip|tgz|tar(?:\.\w+)?)$/i;

/** The local files and folders that a list refers to, without packages from an address. */
function referencesIn(text: string): readonly Reference[] {
  const lines = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  return lines.flatMap((whole): readonly Reference[] => {
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

/** The path without conditions, hashes, extras and quotes. */
function bare(text: string): string {
  return text
    .replace(/;.*$|\s--.*$/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2')
    .replace(/\[[^\]]*\]$/, '');
}
