/** Findings of cdk-nag's AwsSolutions that are as they are meant to be, each with the reason. */
export const ACKNOWLEDGED = [
  {
    id: 'AwsSolutions-S1',
    reason:
      'Only the crew reads and writes the archive; CloudTrail data events tell who did, where that is wanted.',
  },
  {
    id: 'AwsSolutions-IAM5',
    reason: "The archive's keys are made of envelope ids: a statement names its folder, the rest is a star.",
  },
  {
    id: 'AwsSolutions-SNS2',
    reason: 'Alarms tell names of queues and numbers; with a managed key CloudWatch could not publish them.',
  },
] as const;
