import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';

/**
 * What writing and reading with a key takes. Given to the role itself: the key may be somebody else's, and the CDK's own
 * grant says nothing where it cannot tell that both are in one region.
 */
export function grantKey(grantee: IGrantable, key: IKey | undefined): void {
  if (key === undefined) return;
  Grant.addToPrincipal({
    grantee,
    actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
    resourceArns: [key.keyArn],
  });
}
