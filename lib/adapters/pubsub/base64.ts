const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Padded base64, as Pub/Sub writes data in JSON. Node's decoder does not report invalid characters; it skips them. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text);
}
