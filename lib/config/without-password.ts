/** A mistake is printed, a password is not. */
export function withoutPassword(text: string): string {
  return text.replace(/\/\/[^@/]*@/, '//***@');
}
