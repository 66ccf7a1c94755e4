import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defined } from '../../lib/core/text/defined.ts';
import { connectTo } from './clients.ts';
import { LANGUAGES, type Language } from './languages.ts';
import { type Ended, endAll, launch, startForTest, temporaryFolder, within } from './runtime-process.ts';

const folder = temporaryFolder();

/** Written at test time, because linters and the compiler would reject most of them. */
const FILES: Readonly<Record<string, string>> = {
  'score.py': `
import os

limit = 3

def score(payload): return payload
def needs(payload, context, more): return 1
def only(payload, *, key): return 1
def takes_none(): return 1

class Scorer:
    def score(self, payload): return payload

class Hungry:
    def __init__(self, model, size=1): pass
    def score(self, payload): return payload

class Broken:
    def __init__(self): raise RuntimeError("no model")
    def score(self, payload): return payload
`,
  'syntax.py': 'def score(payload):\n    return payload +\n',
  'nested_syntax.py': 'import syntax\ndef score(payload): return payload\n',
  'throws.py': 'def read_model():\n    raise OSError("no weights")\nread_model()\ndef score(payload): pass\n',
  'exits.py': 'import sys\nsys.exit(0)\n',
  'needy.py': 'import no_such_package.part\ndef score(payload): pass\n',
  'pack/__init__.py': 'from .rank import rank\n',
  'pack/rank.py':
    'def rank(payload): return ["rank", payload]\nclass Deep:\n    def go(self, payload): return "deep"\n',
  'score.ts': `
export const limit = 3;
export function score(payload: unknown) { return payload; }
export function needs(payload: unknown, context: unknown, more: unknown) { return [payload, context, more]; }
export class Scorer { score(payload: unknown) { return payload; } }
export class Hungry { model: unknown; constructor(model: unknown) { this.model = model; } score() { return 1; } }
export class Broken { constructor() { throw new RangeError('no model'); } score() { return 1; } }
`,
  'syntax.ts': 'export function score(payload: unknown) {\n  return payload +;\n}\n',
  'syntax.mjs': 'export function score(payload) {\n  return payload +;\n}\n',
  'syntax.cjs': 'exports.score = function (payload) {\n  return payload +;\n};\n',
  'nested-syntax.ts': "import './syntax.ts';\nexport function score(payload: unknown) { return payload; }\n",
  'nested-syntax.mjs': "import './syntax.mjs';\nexport function score(payload) { return payload; }\n",
  'enum.ts': 'export function score() { return 1; }\nexport enum Kind { A }\n',
  'throws.ts':
    "function readModel(): never {\n  throw new RangeError('no weights');\n}\nreadModel();\nexport function score() {}\n",
  'json.ts': "JSON.parse('{');\nexport function score() {}\n",
  'needy.ts': "import 'no-such-package';\nexport function score() {}\n",
  'missing.ts': "import './no-such-file.ts';\nexport function score() {}\n",
  'wrong-import.ts': "import { nope } from './score.ts';\nexport function score() { return nope; }\n",
  'empty.ts': 'export {};\n',
  'plain.cjs':
    'module.exports = make();\nfunction make() { return { score: (payload) => ["cjs", payload] }; }\n',
  'function.cjs': 'module.exports = (payload) => ["function", payload];\n',
  'object.mjs': 'export default { score(payload) { return [this.name, payload]; }, name: "object" };\n',
  'my.handler.ts': 'export const ts = (payload: unknown) => ["dots", payload];\n',
};

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
});
afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

interface FailedStart {
  readonly ended: Ended;
  readonly stderr: string;
}

async function failedStart(
  language: Language,
  handler: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<FailedStart> {
  const runtime = launch({ language, cwd: folder, env, ...defined({ handler }) });
  const ended = await within(runtime.ended, 'the failed start', 60_000);
  return { ended, stderr: runtime.stderr() };
}

/** [title, the handler's name, the message] */
type StartupErrors = readonly (readonly [string, string, RegExp])[];

const STARTUP_ERRORS: Readonly<Record<Language['name'], StartupErrors>> = {
  python: [
    [
      'an unknown module',
      'scroe.score',
      /module "scroe" was not found in .*PYTHONPATH; did you mean "score"\?/,
    ],
    ['an unknown function', 'score.scor', /"score" has no "scor"; did you mean "score"\?/],
    ['an unknown class', 'score.Scorr.score', /"score" has no "Scorr"; did you mean "Scorer"\?/],
    ['an unknown method', 'score.Scorer.scor', /"Scorer" has no "scor"; did you mean "score"\?/],
    ['an unknown part of a package', 'pack.rnk.rank', /"pack" has no "rnk"; did you mean "rank"\?/],
    ['a class without a method', 'score.Scorer', /"Scorer" is a class; name one of its methods: /],
    ['a value that is not a function', 'score.limit', /"limit" has type int; expected a function or method/],
    [
      'a module without a function',
      'score',
      /name must have the form module\.function or module\.Class\.method/,
    ],
    ['a Python file', './score.py', /name must have the form module\.function or module\.Class\.method/],
    ['a syntax error', 'syntax.score', /\/syntax\.py:2: SyntaxError: ./],
    ['a syntax error in an imported module', 'nested_syntax.score', /\/syntax\.py:2: SyntaxError: ./],
    [
      'three required arguments',
      'score.needs',
      /the handler requires arguments \(payload, context, more\).*give the others defaults/,
    ],
    [
      'a keyword-only argument',
      'score.only',
      /the handler requires arguments \(payload, key\).*give the others defaults/,
    ],
    ['no arguments', 'score.takes_none', /the handler takes no arguments, but is called with the payload/],
    [
      'a constructor that requires arguments',
      'score.Hungry.score',
      /constructor of "Hungry" requires arguments \(model\).*give them defaults/,
    ],
  ],
  node: [
    ['an unknown file', './scroe.ts.score', /file \/.*\/scroe\.ts was not found; did you mean "score\.ts"\?/],
    ['an unknown folder', './no/score.ts.score', /file \/.*\/no\/score\.ts was not found; give its path/],
    ['an unknown export', './score.ts.scor', /"\.\/score\.ts" has no "scor"; did you mean "score"\?/],
    ['an unknown class', './score.ts.Scorr.score', /"\.\/score\.ts" has no "Scorr"; did you mean "Scorer"\?/],
    ['an unknown method', './score.ts.Scorer.scor', /"Scorer" has no "scor"; did you mean "score"\?/],
    ['an export of a file without exports', './empty.ts.score', /"\.\/empty\.ts" has no "score"; define it/],
    ['a class without a method', './score.ts.Scorer', /"Scorer" is a class; name one of its methods: /],
    [
      'a value that is not a function',
      './score.ts.limit',
      /"limit" has type number; expected a function or method/,
    ],
    ['a file without an export', './score.ts', /name must have the form FILE\.EXPORT or FILE\.CLASS\.METHOD/],
    ['a module name', 'score.score', /name must have the form FILE\.EXPORT or FILE\.CLASS\.METHOD/],
    ['a syntax error', './syntax.ts.score', /\/syntax\.ts:2: SyntaxError: ./],
    ['a syntax error in .mjs', './syntax.mjs.score', /\/syntax\.mjs:2: SyntaxError: ./],
    ['a syntax error in .cjs', './syntax.cjs.score', /\/syntax\.cjs:2: SyntaxError: ./],
    ['a syntax error in an imported file', './nested-syntax.ts.score', /\/syntax\.ts:2: SyntaxError: ./],
    [
      'a syntax error in an imported .mjs',
      './nested-syntax.mjs.score',
      /nested-syntax\.mjs or a file that it imports: SyntaxError: ./,
    ],
    ['an import of a missing export', './wrong-import.ts.score', /wrong-import\.ts:1: SyntaxError: .*nope/],
    [
      'an enum',
      './enum.ts.score',
      /\/enum\.ts:2: .*enum.*; avoid this syntax, or compile the file to JavaScript/,
    ],
    [
      'a missing package',
      './needy.ts.score',
      /an import was not found: .*no-such-package.*install the package/,
    ],
    ['a missing file', './missing.ts.score', /an import was not found: .*no-such-file\.ts/],
    [
      'three required arguments',
      './score.ts.needs',
      /the handler requires 3 arguments.*give the others defaults/,
    ],
    [
      'a constructor that requires arguments',
      './score.ts.Hungry.score',
      /constructor of "Hungry" requires arguments \(1\).*give them defaults/,
    ],
  ],
};

/** [title, the handler's name, the message, a frame of the user's code] */
const USER_FAILURES: Readonly<
  Record<Language['name'], readonly (readonly [string, string, RegExp, RegExp])[]>
> = {
  python: [
    ['throws', 'throws.score', /loading "throws" failed with OSError: no weights/, /throws\.py", line 2/],
    ['exits', 'exits.score', /loading "exits" failed with SystemExit: 0/, /exits\.py", line 2/],
    [
      'imports a missing package',
      'needy.score',
      /an import was not found: "needy" imports "no_such_package"; install the package/,
      /needy\.py", line 1/,
    ],
    [
      'throws in its constructor',
      'score.Broken.score',
      /creating an instance of "Broken" failed with .*no model/,
      /score\.py", line \d+/,
    ],
  ],
  node: [
    [
      'throws',
      './throws.ts.score',
      /loading .*\/throws\.ts failed with RangeError: no weights/,
      /throws\.ts:2/,
    ],
    ['parses invalid JSON', './json.ts.score', /loading .*\/json\.ts failed with SyntaxError/, /json\.ts:1/],
    [
      'throws in its constructor',
      './score.ts.Broken.score',
      /creating an instance of "Broken" failed with .*no model/,
      /score\.ts:\d+/,
    ],
  ],
};

const NAMED: Readonly<Record<Language['name'], readonly (readonly [string, unknown])[]>> = {
  python: [
    ['pack.rank', ['rank', 1]],
    ['pack.rank.rank', ['rank', 1]],
    ['pack.rank.Deep.go', 'deep'],
  ],
  node: [
    ['./plain.cjs.score', ['cjs', 1]],
    ['./function.cjs.default', ['function', 1]],
    ['./object.mjs.default.score', ['object', 1]],
    ['./my.handler.ts.ts', ['dots', 1]],
    ['score.ts.score', 1],
    [join(folder, 'score.ts.score'), 1],
  ],
};

describe.each(LANGUAGES)('$name runtime, loading', (language) => {
  it.each(STARTUP_ERRORS[language.name])('%s: fails with one sentence', async (_title, handler, message) => {
    const { ended, stderr } = await failedStart(language, handler);
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/^asya-runtime: [^\n]*\n$/);
    expect(stderr).toContain(`cannot host "${handler}": `);
    expect(stderr).toMatch(message);
  });

  it.each(USER_FAILURES[language.name])(
    'a file that %s: shows only the frames of the user',
    async (_title, handler, message, frame) => {
      const { ended, stderr } = await failedStart(language, handler);
      expect(ended).toEqual({ code: 1, signal: null });
      expect(stderr.split('\n')[0]).toMatch(message);
      expect(stderr).toMatch(frame);
      expect(stderr).not.toMatch(/asya.runtime\.(py|ts)|load-handler\.ts|importlib|node:internal/);
    },
  );

  it('shows the whole traceback if ASYA_LOG_LEVEL=debug', async () => {
    const [, handler, message] = STARTUP_ERRORS[language.name][0] ?? ['', '', /^$/];
    const { ended, stderr } = await failedStart(language, handler, { ASYA_LOG_LEVEL: 'debug' });
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr.split('\n')[0]).toMatch(message);
    expect(stderr).toMatch(/asya_runtime\.py|load-handler\.ts/);
  });

  it.each([
    ['no handler', {}, /no handler name: pass it as the argument .*or set ASYA_HANDLER/],
    [
      'an unknown protocol',
      { ASYA_RUNTIME_PROTOCOL: 'grpc' },
      /ASYA_RUNTIME_PROTOCOL is "grpc"; expected "payload"/,
    ],
    [
      'an invalid size limit',
      { ASYA_RUNTIME_MAX_REQUEST: '16MB' },
      /ASYA_RUNTIME_MAX_REQUEST is "16MB"; expected a whole/,
    ],
    [
      'an https URL',
      { ASYA_RUNTIME_URL: 'https://127.0.0.1/x' },
      /ASYA_RUNTIME_URL is "https:.*expected a URL such as asya:/,
    ],
    ['an invalid port', { ASYA_RUNTIME_URL: 'http://127.0.0.1:99999/x' }, /99999/],
    [
      'a parent pipe without a pipe',
      { ASYA_PARENT_PIPE: '1' },
      /ASYA_PARENT_PIPE is 1, but stdin is not a pipe/,
    ],
  ])('%s: fails with one sentence', async (title, env, message) => {
    const handler =
      title === 'no handler' ? undefined : language.handler('echo').replace('handlers', 'score');
    const { ended, stderr } = await failedStart(language, handler?.replace('echo', 'score'), env);
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/^asya-runtime: [^\n]*\n$/);
    expect(stderr).toMatch(message);
  });

  it.each(NAMED[language.name])('%s: finds the handler', async (handler, answer) => {
    const runtime = await startForTest({ language, cwd: folder, handler });
    expect(await (await connectTo(runtime.socketPath)).call(1)).toEqual(answer);
  });
});
