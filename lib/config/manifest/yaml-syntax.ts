import type { YAMLParseError } from 'yaml';

/** What is wrong with the syntax, in plain words, and where. */
export interface SyntaxProblem {
  readonly offset: number;
  readonly problem: string;
}

interface Where {
  readonly text: string;
  readonly offset: number;
  /** The line of the error, without its end. */
  readonly line: string;
  /** The part of the line from the error on. */
  readonly rest: string;
}

type Explain = (error: YAMLParseError, where: Where) => SyntaxProblem | undefined;

/** Explains the error of the parser, which describes the grammar rather than what to fix. */
export function explainSyntax(error: YAMLParseError, text: string): SyntaxProblem {
  const offset = Math.min(error.pos[0], text.length);
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end === -1 ? undefined : end);
  const where = { text, offset, line, rest: line.slice(offset - start) };
  if (/^ *\t/.test(line))
    return {
      offset: start + line.indexOf('\t'),
      problem: 'is indented with a tab; YAML allows only spaces there, so replace the tab',
    };
  return EXPLAIN[error.code]?.(error, where) ?? { offset, problem: `is not valid YAML: ${firstLine(error)}` };
}

const EXPLAIN: Readonly<Partial<Record<YAMLParseError['code'], Explain>>> = {
  RESOURCE_EXHAUSTION: (_error, { offset }) => ({ offset, problem: 'is nested too deeply to be read' }),
  NON_STRING_KEY: (_error, { offset, rest }) => ({
    offset,
    problem: rest.startsWith('{')
      ? 'is a key that is not text: the value begins with two braces; put it in quotes'
      : 'is a key that is not text; expected text',
  }),
  BAD_SCALAR_START: (_error, { offset, rest }) => {
    const value = rest.trim();
    return {
      offset,
      problem: `begins with "${value.charAt(0)}", which has a meaning in YAML; put the value in quotes: ${JSON.stringify(value)}`,
    };
  },
  BAD_ALIAS: (_error, { offset, rest }) => ({
    offset,
    problem: `begins with "${rest.charAt(0)}", which has a meaning in YAML; put the value in quotes`,
  }),
  BAD_DQ_ESCAPE: (_error, { offset, rest }) => ({
    offset,
    problem: `is "${rest.slice(0, 2)}", which is not an escape in double quotes; write "\\${rest.slice(0, 2)}", or use single quotes`,
  }),
  BLOCK_AS_IMPLICIT_KEY: (_error, where) => secondColon(where) ?? deeperLine(where),
  BLOCK_IN_FLOW: (_error, { offset }) => ({
    offset,
    problem: 'is inside brackets and not separated from what is before it; add a comma between the items',
  }),
  MULTILINE_IMPLICIT_KEY: (_error, where) => missingColon(where),
  MISSING_CHAR: (error, where) => {
    const [, quote] = /closing (["'])/.exec(error.message) ?? [];
    return quote === undefined ? missingColon(where) : openQuote(quote, where);
  },
  BAD_INDENT: (error, where) =>
    /Flow (?:map|seq)/.test(error.message)
      ? openBracket(where)
      : {
          offset: where.offset,
          problem:
            'is indented differently from the lines it belongs to; use the same number of spaces for all keys of a map',
        },
  UNEXPECTED_TOKEN: (error, where) => unexpected(error, where),
};

function secondColon({ offset, rest }: Where): SyntaxProblem | undefined {
  const value = rest.trim();
  if (!/:(?: |$)/.test(value)) return undefined;
  return {
    offset,
    problem: `has a second ": " in the same line; put the value in quotes: ${JSON.stringify(value)}, or begin the map on the next line`,
  };
}

/** The key has a value, so the deeper line after it cannot belong to it. */
function deeperLine({ text, offset }: Where): SyntaxProblem {
  const rest = text.slice(offset);
  const next = /\n[ \t]*(?=[^\s#])/.exec(rest);
  return {
    offset: offset + (next === null ? 0 : next.index + next[0].length),
    problem:
      'is indented deeper than the line above it, which already has a value; use the same indentation for both',
  };
}

function missingColon({ offset, rest }: Where): SyntaxProblem {
  const [, key, value] = /^([\w.-]+):(\S.*)$/.exec(rest.trim()) ?? [];
  if (key !== undefined)
    return { offset, problem: `needs a space after the colon: ${JSON.stringify(`${key}: ${value}`)}` };
  return { offset, problem: `is ${JSON.stringify(rest.trim())}; expected "key: value"` };
}

/** The parser notices a missing quote only at the end of the file. */
function openQuote(quote: string, { text, offset }: Where): SyntaxProblem {
  let start = 0;
  for (const line of text.slice(0, offset).split('\n')) {
    const plain = line.replace(/(?:^|\s)#.*$/, '').replaceAll('\\"', '  ');
    const opening = plain.search(new RegExp(`(?:^|[\\s:[{,-])${quote}`));
    if (opening !== -1 && (plain.split(quote).length - 1) % 2 === 1) {
      return {
        offset: start + plain.lastIndexOf(quote),
        problem: `has a quote (${quote}) that is not closed; add another one at the end of the value`,
      };
    }
    start += line.length + 1;
  }
  return { offset, problem: `misses a closing quote (${quote})` };
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}' };

/** The last bracket before the error that is not closed. */
function openBracket({ text, offset }: Where): SyntaxProblem {
  const open: number[] = [];
  const before = text
    .slice(0, offset)
    .replace(/"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<=^|\s)#.*/gm, (found) => ' '.repeat(found.length));
  for (const [at, char] of [...before].entries()) {
    if (char in CLOSING) open.push(at);
    if (char === ']' || char === '}') open.pop();
  }
  const at = open.at(-1) ?? offset;
  const bracket = text.charAt(at);
  const closing = CLOSING[bracket];
  if (closing === undefined) return { offset, problem: 'is outside the brackets it belongs to; indent it' };
  return { offset: at, problem: `has a bracket "${bracket}" that is not closed; add "${closing}"` };
}

function unexpected(error: YAMLParseError, { offset, line, rest }: Where): SyntaxProblem | undefined {
  const char = rest.charAt(0);
  if (char === ']' || char === '}')
    return {
      offset,
      problem: `is a "${char}" without an opening bracket; remove it, or put the value in quotes`,
    };
  if (/block-seq-ind/.test(error.message))
    return { offset, problem: 'begins a list in the line of its key; begin the list on the next line' };
  if (/header/.test(error.message) || /[|>]\s*$/.test(line.slice(0, line.length - rest.length)))
    return { offset, problem: 'is text after "|" or ">"; begin the text on the next line' };
  const [, quote] = /(["'])\s*$/.exec(line.slice(0, line.length - rest.length)) ?? [];
  if (quote !== undefined)
    return { offset, problem: `is text after the closing quote (${quote}); put the whole value in quotes` };
  return undefined;
}

function firstLine(error: Error): string {
  return error.message.split('\n')[0] ?? '';
}

const MAX_WIDTH = 100;

/** The line at this offset, and a caret below it. Tabs are shown as arrows. */
export function excerptAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end === -1 ? undefined : end).replace(/\r$/, '');
  const column = Math.min(offset - start, line.length);
  const from = Math.max(0, column - MAX_WIDTH + 20);
  const shown = [...line.slice(from, from + MAX_WIDTH)].map((char) =>
    char === '\t' ? '→' : /\p{Cc}/u.test(char) ? ' ' : char,
  );
  return `${shown.join('').trimEnd()}\n${' '.repeat(column - from)}^`;
}
