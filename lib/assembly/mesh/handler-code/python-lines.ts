/** A logical line of Python: continued lines are joined, comments are removed, strings are empty. */
export interface PythonLine {
  readonly indent: number;
  readonly text: string;
}

const PREFIX = /(?:^|[^\w])([rbuft]{0,3})$/i;

/**
 * The logical lines of a Python file. Undefined if they cannot be found: a bracket or a string does not end, or an
 * f-string contains its own quotes.
 */
export function pythonLines(source: string): readonly PythonLine[] | undefined {
  const text = source.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const lines: PythonLine[] = [];
  let current = '';
  let depth = 0;
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === '#') {
      while (at < text.length && text[at] !== '\n') at++;
    } else if (char === '"' || char === "'") {
      const end = endOfString(text, at, PREFIX.exec(current)?.[1] ?? '');
      if (end === undefined) return undefined;
      current += '""';
      at = end;
    } else if (char === '\\' && text[at + 1] === '\n') {
      current += ' ';
      at += 2;
    } else if (char === '\n' && depth === 0) {
      push(lines, current);
      current = '';
      at++;
    } else {
      if ('([{'.includes(char)) depth++;
      if (')]}'.includes(char)) depth--;
      if (depth < 0) return undefined;
      current += char === '\n' ? ' ' : char;
      at++;
    }
  }
  push(lines, current);
  return depth === 0 ? lines : undefined;
}

/** The position after a string that starts here. */
function endOfString(text: string, start: number, prefix: string): number | undefined {
  const quote = text.charAt(start);
  const isTriple = text.startsWith(quote.repeat(3), start);
  const closing = isTriple ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '\n' && !isTriple) return undefined;
    else if (text.startsWith(closing, at)) {
      const end = at + closing.length;
      // `f"{x["a"]}"`: what looks like the end is inside braces.
      const inner = text.slice(start, end).replaceAll('{{', '').replaceAll('}}', '');
      return /[ft]/i.test(prefix) && count(inner, '{') !== count(inner, '}') ? undefined : end;
    }
  }
  return undefined;
}

function count(text: string, char: string): number {
  return text.split(char).length - 1;
}

function push(lines: PythonLine[], text: string): void {
  if (text.trim() === '') return;
  const [space = ''] = /^[ \t\f]*/.exec(text) ?? [];
  let indent = 0;
  for (const char of space) {
    if (char === '\t') indent += 8 - (indent % 8);
    else indent = char === '\f' ? 0 : indent + 1;
  }
  lines.push({ indent, text: text.trim() });
}
