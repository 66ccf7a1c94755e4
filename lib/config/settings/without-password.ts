/** Up to the last "@", because a password may contain "/" or "@", which is often why a URL is not valid. */
const CREDENTIALS = /\/\/.*@|^[^\s"{[@/:]+:(?!\/\/).*@/s;

/** Hides credentials in a value that is shown in a message. */
export function withoutPassword(text: string): string {
  return text.replace(CREDENTIALS, (found) => (found.startsWith('//') ? '//***@' : '***@'));
}
