import { lettersOf } from './letters-of.ts';

class OddLetters extends Error {}

interface Text {
  readonly text: string;
}

export function count(payload: Text) {
  const letters = lettersOf(payload.text);
  if (letters % 2 === 1) throw new OddLetters(`${letters} letters are an odd number`);
  return { ...payload, letters, alphabet: process.env['ALPHABET'] };
}
