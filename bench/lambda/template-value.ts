/** A value of a template with what CloudFormation knows about the account. Throws for references to other resources. */
export function templateValue(
  value: unknown,
  where: { readonly region: string; readonly place: string },
): string {
  if (typeof value === 'string') return value;
  const pseudo: Readonly<Record<string, string>> = {
    'AWS::AccountId': '000000000000',
    'AWS::Region': where.region,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
  };
  const { Ref: reference, 'Fn::Join': join } = value as { Ref?: string; 'Fn::Join'?: [string, unknown[]] };
  if (join !== undefined) return join[1].map((part) => templateValue(part, where)).join(join[0]);
  const known = pseudo[reference ?? ''];
  if (known === undefined)
    throw new Error(
      `${where.place} is ${JSON.stringify(value)}, which only CloudFormation can resolve; add a value for it to the references of the benchmark`,
    );
  return known;
}
