/**
 * How reports are signed. The header is `t={seconds since 1970},v1={HMAC-SHA256 in hex}`; the HMAC covers the time and
 * the body.
 */

export const SIGNATURE_HEADER = 'x-asya-signature';
/** A signature that is older or newer than this is rejected, so that a recorded request cannot be sent again later. */
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
