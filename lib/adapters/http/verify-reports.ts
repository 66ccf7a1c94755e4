import { createHmac, timingSafeEqual } from 'node:crypto';
import { isRecent, signatureFromText, signedText } from '../../core/task/report-signature.ts';

/** Whether the body was signed with the mesh's secret, and recently. */
export type VerifyReports = (signature: string | undefined, body: string) => boolean;

export function reportVerification(secret: string, now: () => number): VerifyReports {
  return (text, body) => {
    const signature = signatureFromText(text);
    if (signature === undefined) return false;
    const expected = createHmac('sha256', secret).update(signedText(signature.seconds, body)).digest();
    return timingSafeEqual(expected, Buffer.from(signature.mac, 'hex')) && isRecent(signature, now());
  };
}
