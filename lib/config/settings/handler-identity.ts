import { isFields } from '../../core/text/fields.ts';
import type { Kind } from './kinds.ts';

const ROLE_ARN = /^arn:aws[\w-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/;

export const roleArn: Kind<string> = {
  takes: 'the ARN of an IAM role',
  read: (value) =>
    ROLE_ARN.test(value)
      ? { value }
      : { problem: 'expected the ARN of an IAM role such as "arn:aws:iam::123456789012:role/score"' },
  write: (value) => value,
};

/** Variables by name. `null` removes a variable that would otherwise be inherited. */
export type VariableMap = Readonly<Record<string, string | null>>;

const MAP_RULE =
  'expected a JSON object of variables whose values are text or null, such as {"AWS_PROFILE":"dev"}';

/** May contain credentials, so messages never show it and handlers do not receive the variable itself. */
export const variableMap: Kind<VariableMap> = {
  takes: 'a JSON object of text and `null`',
  read: (text) => {
    const value = parsed(text);
    const isMap =
      isFields(value) && Object.values(value).every((one) => one === null || typeof one === 'string');
    return isMap ? { value: value as VariableMap } : { problem: MAP_RULE };
  },
  write: (value) => JSON.stringify(value),
  isSecret: true,
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
