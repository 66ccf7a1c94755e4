/** `score.ts.score`, `score.ts.Scorer.score`: as the Node runtime takes it. */
const NODE =
  /^(?<file>.+\.(?:js|mjs|cjs|ts|mts|cts))\.[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*$/u;

/** `score.score`, `package.score.Scorer.score`: as the Python runtime takes it. */
const PYTHON = /^[\p{ID_Start}_][\p{ID_Continue}]*(?:\.[\p{ID_Start}_][\p{ID_Continue}]*)+$/u;

/** Whoever writes it means a file, never a function or module of that name. */
const PYTHON_FILE = /\.py(?:\.|$)/;

const FILE_ALONE = /\.(?:js|mjs|cjs|ts|mts|cts|py)$/;

export type HandlerLanguage = 'node' | 'python';

/** What the form of a handler's name tells; undefined where it is that of neither. */
export function languageOf(handler: string): HandlerLanguage | undefined {
  if (NODE.test(handler)) return 'node';
  return isHandlerOf('python', handler) && !FILE_ALONE.test(handler) ? 'python' : undefined;
}

export function isHandlerOf(language: HandlerLanguage, handler: string): boolean {
  return language === 'node' ? NODE.test(handler) : PYTHON.test(handler) && !PYTHON_FILE.test(handler);
}

/** The file of a Node handler. */
export function fileOfHandler(handler: string): string | undefined {
  return NODE.exec(handler)?.groups?.['file'];
}

/** What somebody who wrote this most likely meant: `src/score.py.score` is `src.score.score`. */
export function meantHandler(handler: string): string | undefined {
  const dotted = handler
    .replace(/^\.\//, '')
    .replaceAll('/', '.')
    .replace(/\.py\./, '.');
  return dotted !== handler && languageOf(dotted) === 'python' ? dotted : undefined;
}

export function isFileAlone(handler: string): boolean {
  return FILE_ALONE.test(handler);
}
