import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

/**
 * Allows the grantee to encrypt and decrypt with the key. The permission is added to the role, not to the key's policy:
 * the key may belong to another stack, and the CDK's own grant adds nothing if it cannot determine that key and role are
 * in the same region.
 */
export function grantKey(grantee: IGrantable, key: IKey | undefined): void {
  if (key === undefined) return;
  Grant.addToPrincipal({
    grantee,
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resourceArns: [key.keyArn],
  });
}
