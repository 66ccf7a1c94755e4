import { describeValue } from '../../core/text/describe-value.ts';
import type { Fields } from '../../core/text/fields.ts';
import type { MistakeCollector } from '../../core/text/mistake.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { withoutPassword } from '../settings/without-password.ts';
import {
  fileOfHandler,
  type HandlerLanguage,
  isFileOnly,
  isHandlerOf,
  languageOf,
  suggestedHandler,
} from './handler-name.ts';
import type { RuntimeSpec } from './manifest.ts';
import { readText } from './manifest-field.ts';

const KINDS = ['node', 'python', 'image', 'url'] as const satisfies readonly RuntimeSpec['kind'][];
type RuntimeKind = (typeof KINDS)[number];

const PARTS = ['handler', 'image', 'url'] as const;

/** Which of `handler`, `image` and `url` each runtime requires, and which it also allows. */
const NEEDS = {
  node: { part: 'handler', allows: [] },
  python: { part: 'handler', allows: [] },
  image: { part: 'image', allows: ['handler'] },
  url: { part: 'url', allows: [] },
} as const satisfies Readonly<Record<RuntimeKind, { part: string; allows: readonly string[] }>>;

const EXAMPLES = {
  handler: '"score.ts.score" for Node or "score.score" for Python',
  image: '"registry.example/score:1"',
  url: '"http://127.0.0.1:8080/invoke"',
} as const;

/** Reads `runtime`, `handler`, `image` and `url`. Undefined, and mistakes reported, if they define no runtime. */
export function readRuntime(spec: Fields, notes: MistakeCollector): RuntimeSpec | undefined {
  const kind = spec['runtime'] === undefined ? kindFromParts(spec, notes) : kindNamed(spec['runtime'], notes);
  if (kind === undefined) return undefined;
  const { part, allows } = NEEDS[kind];
  for (const other of PARTS) {
    if (spec[other] === undefined || other === part || (allows as readonly string[]).includes(other))
      continue;
    const problem =
      spec['runtime'] === undefined
        ? `is set together with ${part}; an actor has one runtime, so keep one of them`
        : `cannot be used with runtime "${kind}", which takes ${part}; keep one of them`;
    notes.at(other).add(problem);
  }
  if (spec[part] === undefined) {
    notes.at(part).add(`is missing; runtime "${kind}" needs one, such as ${EXAMPLES[part]}`);
    return undefined;
  }
  const text = readText(spec[part], notes.at(part));
  if (text === undefined) return undefined;
  switch (kind) {
    case 'node':
    case 'python':
      return isHandler(kind, text, notes.at('handler')) ? { kind, handler: text } : undefined;
    case 'image':
      return readImage(text, spec['handler'], notes);
    case 'url':
      return readUrl(text, notes.at('url'));
  }
}

function kindNamed(value: unknown, notes: MistakeCollector): RuntimeKind | undefined {
  const kind = KINDS.find((known) => known === value);
  if (kind === undefined) {
    const meant = typeof value === 'string' ? suggestion(value, KINDS) : '';
    notes.at('runtime').add(`is ${describeValue(value)}; expected one of ${KINDS.join(', ')}${meant}`);
  }
  return kind;
}

function kindFromParts(spec: Fields, notes: MistakeCollector): RuntimeKind | undefined {
  if (spec['image'] !== undefined) return 'image';
  if (spec['url'] !== undefined) return 'url';
  const { handler } = spec;
  if (handler === undefined) {
    notes.at('handler').add(`is missing; expected a function (${EXAMPLES.handler}), an image or a url`);
    return undefined;
  }
  const text = readText(handler, notes.at('handler'));
  if (text === undefined) return undefined;
  const language = languageOf(text);
  if (language === undefined) notes.at('handler').add(handlerProblem(text));
  return language;
}

function handlerProblem(handler: string, language?: HandlerLanguage): string {
  const received = `is ${describeValue(handler)}`;
  const file = isFileOnly(handler) ? ', a file' : '';
  const form =
    language === undefined
      ? `a handler is FILE.FUNCTION or module.function, like ${EXAMPLES.handler}`
      : `a handler for ${language} is ${language === 'node' ? 'FILE.FUNCTION, like "score.ts.score"' : 'module.function, like "score.score"'}`;
  const meant = suggestedHandler(handler);
  return `${received}${file}; ${form}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

function isHandler(language: HandlerLanguage, handler: string, notes: MistakeCollector): boolean {
  if (!isHandlerOf(language, handler)) {
    const other = language === 'node' ? 'python' : 'node';
    const isOther = languageOf(handler) === other;
    notes.add(
      `${handlerProblem(handler, language)}${isOther ? `; or did you mean runtime "${other}"?` : ''}`,
    );
    return false;
  }
  if (language === 'node' && fileOfHandler(handler)?.startsWith('/')) {
    notes.add(
      `is ${describeValue(handler)}; the path of its file is relative to the folder of this document, without a leading "/"`,
    );
    return false;
  }
  return true;
}

function readImage(image: string, handler: unknown, notes: MistakeCollector): RuntimeSpec | undefined {
  if (/\s/.test(image)) {
    notes.at('image').add(`is ${describeValue(image)}; expected an image like ${EXAMPLES.image}`);
    return undefined;
  }
  if (handler === undefined) return { kind: 'image', image };
  const text = readText(handler, notes.at('handler'));
  return text === undefined ? undefined : { kind: 'image', image, handler: text };
}

function readUrl(url: string, notes: MistakeCollector): RuntimeSpec | undefined {
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  if (/^https?:$/.test(scheme)) return { kind: 'url', url };
  notes.add(`is ${describeValue(withoutPassword(url))}; expected a URL like ${EXAMPLES.url}`);
  return undefined;
}
