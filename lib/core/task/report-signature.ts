/** How reports are signed: `t=` seconds since 1970, `v1=` an HMAC with SHA-256 in hex, over that time and the body. */

export const SIGNATURE_HEADER = 'x-asya-signature';
/** Older or newer than this, a signature says nothing: what was heard once cannot be said again later. */
const SIGNATURE_WINDOW_SECONDS = 300;

export interface Signature {
  readonly seconds: number;
  readonly mac: string;
}

export function signedText(seconds: number, body: string): string {
  return `${seconds}.${body}`;
}

export function signatureText({ seconds, mac }: Signature): string {
  return `t=${seconds},v1=${mac}`;
}

export function signatureFromText(text: string | undefined): Signature | undefined {
  const [, seconds, mac] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  return seconds === undefined || mac === undefined ? undefined : { seconds: Number(seconds), mac };
}

export function isRecent({ seconds }: Signature, now: number): boolean {
  return Math.abs(now / 1000 - seconds) <= SIGNATURE_WINDOW_SECONDS;
}
