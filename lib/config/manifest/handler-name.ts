/** `score.ts.score`, `score.ts.Scorer.score`: as the Node runtime expects it. */
const NODE =
  /^(?<file>.+\.(?:js|mjs|cjs|ts|mts|cts))\.[\p{ID_Start}$_][\p{ID_Continue}$]*(?:\.[\p{ID_Start}$_][\p{ID_Continue}$]*)*$/u;

/** `score.score`, `package.score.Scorer.score`: as the Python runtime expects it. */
const PYTHON = /^[\p{ID_Start}_][\p{ID_Continue}]*(?:\.[\p{ID_Start}_][\p{ID_Continue}]*)+$/u;

/** A file rather than a function or module called `py`. */
const PYTHON_FILE = /\.py(?:\.|$)/;

const FILE_ONLY = /\.(?:js|mjs|cjs|ts|mts|cts|py)$/;

export type HandlerLanguage = 'node' | 'python';

/** The language by the form of the handler's name. Undefined: neither. */
export function languageOf(handler: string): HandlerLanguage | undefined {
  if (NODE.test(handler)) return 'node';
  return isHandlerOf('python', handler) && !FILE_ONLY.test(handler) ? 'python' : undefined;
}

export function isHandlerOf(language: HandlerLanguage, handler: string): boolean {
  return language === 'node' ? NODE.test(handler) : PYTHON.test(handler) && !PYTHON_FILE.test(handler);
}

/** The file of a Node handler. */
export function fileOfHandler(handler: string): string | undefined {
  return NODE.exec(handler)?.groups?.['file'];
}

/** The likely intended handler: `src.score.score` for `src/score.py.score`, `score.ts.score` for `score.ts:score`. */
export function suggestedHandler(handler: string): string | undefined {
  const joined = handler.replace(/[:#]+/g, '.').replace(/\(\)$/, '');
  if (joined !== handler && languageOf(joined) !== undefined) return joined;
  const dotted = joined
    .replace(/^\.\//, '')
    .replaceAll('/', '.')
    .replace(/\.py\./, '.');
  return dotted !== handler && languageOf(dotted) === 'python' ? dotted : undefined;
}

export function isFileOnly(handler: string): boolean {
  return FILE_ONLY.test(handler);
}
