import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectTo } from './clients.ts';
import { LANGUAGES, type Language } from './languages.ts';
import { type Ended, endAll, launch, startForTest, temporaryFolder, within } from './runtime-process.ts';

const folder = temporaryFolder();

/** Written here and not kept as files: most of them no linter or compiler should see. */
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
  'alone.cjs': 'module.exports = (payload) => ["alone", payload];\n',
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

interface Refused {
  readonly ended: Ended;
  readonly stderr: string;
}

async function refusalOf(
  language: Language,
  handler: string | undefined,
  env: Readonly<Record<string, string>> = {},
): Promise<Refused> {
  const runtime = launch({ language, cwd: folder, env, ...(handler === undefined ? {} : { handler }) });
  const ended = await within(runtime.ended, 'the refusal', 60_000);
  return { ended, stderr: runtime.stderr() };
}

/** [what, the handler's name, what the one sentence says] */
type Refusals = readonly (readonly [string, string, RegExp])[];

const REFUSALS: Readonly<Record<Language['name'], Refusals>> = {
  python: [
    ['an unknown module', 'scroe.score', /no module "scroe" in .*; did you mean "score"\?.*PYTHONPATH/],
    ['an unknown function', 'score.scor', /"score" has no "scor"; did you mean "score"\?/],
    ['an unknown class', 'score.Scorr.score', /"score" has no "Scorr"; did you mean "Scorer"\?/],
    ['an unknown method', 'score.Scorer.scor', /"Scorer" has no "scor"; did you mean "score"\?/],
    ['an unknown part of a package', 'pack.rnk.rank', /"pack" has no "rnk"; did you mean "rank"\?/],
    ['a class alone', 'score.Scorer', /"Scorer" is a class; name its method too/],
    ['what is no function', 'score.limit', /"limit" is a int; it must be written module\.function/],
    ['a module alone', 'score', /it must be written module\.function or module\.Class\.method/],
    ['a file', './score.py', /it must be written module\.function or module\.Class\.method/],
    ['an error of syntax', 'syntax.score', /syntax\.py:2 is not valid Python: .*; correct it/],
    ['one in an imported module', 'nested_syntax.score', /syntax\.py:2 is not valid Python/],
    ['three arguments', 'score.needs', /it needs arguments \(payload, context, more\).*give them defaults/],
    ['an argument by key', 'score.only', /it needs arguments \(payload, key\).*give them defaults/],
    ['no arguments', 'score.takes_none', /it takes no arguments, but gets the payload/],
    [
      'a class that needs arguments',
      'score.Hungry.score',
      /"Hungry" needs arguments \(model\).*give them defaults/,
    ],
  ],
  node: [
    ['an unknown file', './scroe.ts.score', /there is no file \/.*\/scroe\.ts; did you mean "score\.ts"\?/],
    ['an unknown folder', './no/score.ts.score', /there is no file \/.*\/no\/score\.ts; give its path/],
    ['an unknown export', './score.ts.scor', /"\.\/score\.ts" has no "scor"; did you mean "score"\?/],
    ['an unknown class', './score.ts.Scorr.score', /"\.\/score\.ts" has no "Scorr"; did you mean "Scorer"\?/],
    ['an unknown method', './score.ts.Scorer.scor', /"Scorer" has no "scor"; did you mean "score"\?/],
    ['an export of a file without', './empty.ts.score', /"\.\/empty\.ts" has no "score"/],
    ['a class alone', './score.ts.Scorer', /"Scorer" is a class; name its method too/],
    ['what is no function', './score.ts.limit', /"limit" is a number; it must be written FILE\.EXPORT/],
    ['a file alone', './score.ts', /it must be written FILE\.EXPORT or FILE\.CLASS\.METHOD/],
    ['a module', 'score.score', /it must be written FILE\.EXPORT or FILE\.CLASS\.METHOD/],
    ['an error of syntax', './syntax.ts.score', /\/syntax\.ts:2 cannot be read: .*; correct it/],
    ['one in .mjs', './syntax.mjs.score', /\/syntax\.mjs:2 cannot be read: .*; correct it/],
    ['one in .cjs', './syntax.cjs.score', /\/syntax\.cjs:2 cannot be read: .*; correct it/],
    ['one in an imported file', './nested-syntax.ts.score', /\/syntax\.ts:2 cannot be read/],
    [
      'one in an imported .mjs',
      './nested-syntax.mjs.score',
      /nested-syntax\.mjs, or what it imports, cannot/,
    ],
    [
      'an import that is not exported',
      './wrong-import.ts.score',
      /wrong-import\.ts:1 cannot be read: .*nope/,
    ],
    ['an enum', './enum.ts.score', /\/enum\.ts:2: .*enum.*compile the file to JavaScript/],
    ['a missing package', './needy.ts.score', /imports what is not there: .*no-such-package.*install it/],
    ['a missing file', './missing.ts.score', /imports what is not there: .*no-such-file\.ts/],
    ['three arguments', './score.ts.needs', /"needs" needs 3 arguments.*give the others defaults/],
    [
      'a class that needs arguments',
      './score.ts.Hungry.score',
      /"Hungry" needs arguments.*give them defaults/,
    ],
  ],
};

/** [what, the handler's name, the sentence, what the user's own frames say] */
const USER_FAILURES: Readonly<
  Record<Language['name'], readonly (readonly [string, string, RegExp, RegExp])[]>
> = {
  python: [
    [
      'throws',
      'throws.score',
      /"throws" failed while it was loaded, with OSError: no weights/,
      /throws\.py", line 2/,
    ],
    ['exits', 'exits.score', /"exits" failed while it was loaded, with SystemExit: 0/, /exits\.py", line 2/],
    [
      'needs a package',
      'needy.score',
      /"needy" imports "no_such_package", which is not there/,
      /needy\.py", line 1/,
    ],
    [
      'makes no instance',
      'score.Broken.score',
      /"Broken" failed while it was made.*no model/,
      /score\.py", line \d+/,
    ],
  ],
  node: [
    [
      'throws',
      './throws.ts.score',
      /throws\.ts failed while it was loaded, with RangeError: no weights/,
      /throws\.ts:2/,
    ],
    [
      'reads bad JSON',
      './json.ts.score',
      /json\.ts failed while it was loaded, with SyntaxError/,
      /json\.ts:1/,
    ],
    [
      'makes no instance',
      './score.ts.Broken.score',
      /"Broken" failed while it was made.*no model/,
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
    ['./alone.cjs.default', ['alone', 1]],
    ['./object.mjs.default.score', ['object', 1]],
    ['./my.handler.ts.ts', ['dots', 1]],
    ['score.ts.score', 1],
    [join(folder, 'score.ts.score'), 1],
  ],
};

describe.each(LANGUAGES)('the $name runtime, asked for', (language) => {
  it.each(REFUSALS[language.name])('%s, refuses in one sentence', async (_title, handler, sentence) => {
    const { ended, stderr } = await refusalOf(language, handler);
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/^asya-runtime: [^\n]*\n$/);
    expect(stderr).toContain(`cannot host "${handler}": `);
    expect(stderr).toMatch(sentence);
  });

  it.each(USER_FAILURES[language.name])(
    'what %s while it is loaded, shows the frames of the user',
    async (_title, handler, sentence, frame) => {
      const { ended, stderr } = await refusalOf(language, handler);
      expect(ended).toEqual({ code: 1, signal: null });
      expect(stderr.split('\n')[0]).toMatch(sentence);
      expect(stderr).toMatch(frame);
      expect(stderr).not.toMatch(/asya.runtime\.(py|ts)|load-handler\.ts|importlib|node:internal/);
    },
  );

  it('what is not there, tells all with ASYA_LOG_LEVEL=debug', async () => {
    const [, handler, sentence] = REFUSALS[language.name][0] ?? ['', '', /^$/];
    const { ended, stderr } = await refusalOf(language, handler, { ASYA_LOG_LEVEL: 'debug' });
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr.split('\n')[0]).toMatch(sentence);
    expect(stderr).toMatch(/asya_runtime\.py|load-handler\.ts/);
  });

  it.each([
    ['no handler at all', {}, /one argument must name the handler.*ASYA_HANDLER is not set/],
    ['a protocol', { ASYA_RUNTIME_PROTOCOL: 'grpc' }, /ASYA_RUNTIME_PROTOCOL is "grpc"; it may be "payload"/],
    [
      'a limit',
      { ASYA_RUNTIME_MAX_REQUEST: '16MB' },
      /ASYA_RUNTIME_MAX_REQUEST is "16MB"; it must be a whole/,
    ],
    ['https', { ASYA_RUNTIME_URL: 'https://127.0.0.1/x' }, /ASYA_RUNTIME_URL is "https:.*may be like unix:/],
    ['a port', { ASYA_RUNTIME_URL: 'http://127.0.0.1:99999/x' }, /99999/],
    ['a pipe that is none', { ASYA_PARENT_PIPE: '1' }, /ASYA_PARENT_PIPE=1 says that stdin is a pipe/],
  ])('%s that it does not know, refuses in one sentence', async (title, env, sentence) => {
    const handler =
      title === 'no handler at all' ? undefined : language.handler('echo').replace('handlers', 'score');
    const { ended, stderr } = await refusalOf(language, handler?.replace('echo', 'score'), env);
    expect(ended).toEqual({ code: 1, signal: null });
    expect(stderr).toMatch(/^asya-runtime: [^\n]*\n$/);
    expect(stderr).toMatch(sentence);
  });

  it.each(NAMED[language.name])('%s, finds it', async (handler, answer) => {
    const runtime = await startForTest({ language, cwd: folder, handler });
    expect(await (await connectTo(runtime.socketPath)).call(1)).toEqual(answer);
  });
});
