import { type CfnElement, Stack } from 'aws-cdk-lib';
import { ARCHIVE_FOLDERS, type Crew } from '../constructs/crew.ts';

export interface Acknowledged {
  readonly id: string;
  readonly reason: string;
}

/** Findings of cdk-nag's AwsSolutions pack that are intended, each with the reason. */
export function acknowledgedIn({ archive }: Crew): readonly Acknowledged[] {
  const bucket = Stack.of(archive).getLogicalId(archive.node.defaultChild as CfnElement);
  return [
    {
      id: 'AwsSolutions-S1',
      reason:
        'Only the crew, the gateway and operators access the archive. Use CloudTrail data events if you need access logs.',
    },
    ...ARCHIVE_FOLDERS.map((folder) => ({
      id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/${folder}/*]`,
      reason: `Keys in ${folder}/ consist of dates, actor names and envelope ids, which are not known at deployment.`,
    })),
  ];
}

export const GATEWAY_ACKNOWLEDGED: readonly Acknowledged[] = [
  {
    id: 'AwsSolutions-SMG4',
    reason:
      'People change the keys of callers, and every function of the mesh signs reports. Both secrets take effect with a deployment, so a rotation schedule does not apply.',
  },
];
