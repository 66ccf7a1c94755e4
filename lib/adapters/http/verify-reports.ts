import { createHmac, timingSafeEqual } from 'node:crypto';
import { isRecent, signatureFromText, signedText } from '../../core/task/report-signature.ts';

/** Whether somebody who knows the mesh's secret said this, and just now. */
export type VerifyReports = (signature: string | undefined, body: string) => boolean;

export function reportVerification(secret: string, now: () => number): VerifyReports {
  return (text, body) => {
    const signature = signatureFromText(text);
    if (signature === undefined) return false;
    const right = createHmac('sha256', secret).update(signedText(signature.seconds, body)).digest();
    return timingSafeEqual(right, Buffer.from(signature.mac, 'hex')) && isRecent(signature, now());
  };
}
