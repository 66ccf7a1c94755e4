import { realpathSync, statSync } from 'node:fs';

/** The file that a path refers to, through links. Undefined if it does not exist or cannot be read. */
export function realFile(path: string): string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
