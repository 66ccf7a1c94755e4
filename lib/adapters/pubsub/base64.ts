const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** As Pub/Sub writes data in JSON: padded. Node reads anything, and leaves out what it cannot. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}
