import { type CfnElement, Stack } from 'aws-cdk-lib';
import { ARCHIVE_FOLDERS, type Crew } from '../constructs/crew.ts';

export interface Acknowledged {
  readonly id: string;
  readonly reason: string;
}

/** Findings of cdk-nag's AwsSolutions that are as they are meant to be, each with the reason. */
export function acknowledgedIn({ archive }: Crew): readonly Acknowledged[] {
  const bucket = Stack.of(archive).getLogicalId(archive.node.defaultChild as CfnElement);
  return [
    {
      id: 'AwsSolutions-S1',
      reason:
        'Only the crew reads and writes the archive; where it has to be known who did, CloudTrail data events tell it.',
    },
    ...ARCHIVE_FOLDERS.map((folder) => ({
      id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/${folder}/*]`,
      reason: `Keys in ${folder}/ are made of dates, actors and envelope ids, which nobody knows beforehand.`,
    })),
  ];
}

export const ACKNOWLEDGED_OF_GATEWAY: readonly Acknowledged[] = [
  {
    id: 'AwsSolutions-SMG4',
    reason:
      'Who may call is changed by people, and reports are signed by every function of the mesh: both take effect with a deployment, not by a timer.',
  },
];
