import { ArnFormat, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { FunctionPlan } from '../../lib/config/plan/function-plan.ts';
import { isActorPlan } from '../../lib/config/plan/function-plan.ts';
import type { SecretReference } from '../../lib/config/settings/secret-reference.ts';

/**
 * Allows an actor's sidecar to read exactly the secrets of its plan, and to decrypt them with the keys of its plan. The
 * permissions are added to the role, so a secret of another account also needs a policy of its own.
 */
export function grantSecrets(scope: Construct, grantee: IGrantable, plan: FunctionPlan): void {
  const references = isActorPlan(plan) ? Object.values(plan.config.runtime.secrets ?? {}) : [];
  const stack = Stack.of(scope);
  const secrets = references.flatMap((one) => ('secretsManager' in one ? [secretArn(stack, one)] : []));
  const parameters = references.flatMap((one) => ('ssm' in one ? [parameterArn(stack, one)] : []));
  grant(grantee, 'secretsmanager:GetSecretValue', secrets);
  grant(grantee, 'ssm:GetParameter', parameters);
  grant(grantee, 'kms:Decrypt', plan.secretKeys ?? []);
}

function grant(grantee: IGrantable, action: string, arns: readonly string[]): void {
  if (arns.length === 0) return;
  Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [...new Set(arns)] });
}

/** Secrets Manager appends a hyphen and six random characters to the name. A complete ARN contains them. */
const SUFFIX = '-??????';

function secretArn(
  stack: Stack,
  { secretsManager }: Extract<SecretReference, { secretsManager: string }>,
): string {
  if (secretsManager.startsWith('arn:')) return secretsManager;
  return stack.formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    resourceName: `${secretsManager}${SUFFIX}`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

function parameterArn(stack: Stack, { ssm }: Extract<SecretReference, { ssm: string }>): string {
  if (ssm.startsWith('arn:')) return ssm;
  return stack.formatArn({ service: 'ssm', resource: 'parameter', resourceName: ssm.replace(/^\//, '') });
}
