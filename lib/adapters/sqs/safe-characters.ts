/** Two characters that JSON allows and SQS does not. */
const REFUSED = /[\ufffe\uffff]/g;
/** Embedded engines refuse every character beyond U+FFFF. */
const REFUSED_BY_ENGINES = /[\ufffe\uffff\ud800-\udfff]/g;

/** Escapes the characters that are refused. In JSON they can only occur in strings, where an escape means the same. */
export function safeCharacters(text: string, escapesPairs: boolean): string {
  const refused = escapesPairs ? REFUSED_BY_ENGINES : REFUSED;
  return text.replace(refused, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
