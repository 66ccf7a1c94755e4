import { expect, it } from 'vitest';
import { sendExample } from '../../lib/cli/commands/dev/send-example.ts';

const types = { name: 'string', count: 'integer', isNew: 'boolean', tags: 'array', more: 'object' };
const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));

it.each([
  ['no schema', undefined, 'send hello --wait'],
  ['no required fields', { type: 'object', properties }, 'send hello --wait'],
  ['an empty list of required fields', { required: [] }, 'send hello --wait'],
  ['required is not a list', { required: 'name' }, 'send hello --wait'],
  ['a string field', { properties, required: ['name'] }, `send hello --payload '{"name":"…"}' --wait`],
  ['no properties', { required: ['name'] }, `send hello --payload '{"name":"…"}' --wait`],
  [
    'a field of every type',
    { properties, required: Object.keys(types) },
    `send hello --payload '{"name":"…","count":1,"isNew":true,"tags":[],"more":{}}' --wait`,
  ],
  ['a field name with a quote', { required: ["it's"] }, `send hello --payload '{"it'\\''s":"…"}' --wait`],
])('sendExample: %s', (_what, inputSchema, expected) => {
  const mcp = inputSchema === undefined ? {} : { mcp: { inputSchema } };
  expect(sendExample({ name: 'hello', ...mcp })).toBe(expected);
});
