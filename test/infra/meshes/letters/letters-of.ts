export function lettersOf(text: string): number {
  return text.match(/\p{L}/gu)?.length ?? 0;
}
