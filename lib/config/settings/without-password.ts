/** Up to the last "@": what makes a URL unreadable is often a "/" or an "@" in the password itself. */
const CREDENTIALS = /\/\/.*@|^[^\s"{[@/:]+:(?!\/\/).*@/s;

/** A mistake is printed, a password is not. */
export function withoutPassword(text: string): string {
  return text.replace(CREDENTIALS, (found) => (found.startsWith('//') ? '//***@' : '***@'));
}
