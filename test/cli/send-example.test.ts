import { expect, it } from 'vitest';
import { sendExample } from '../../lib/cli/commands/dev/send-example.ts';

const types = { name: 'string', count: 'integer', isNew: 'boolean', tags: 'array', more: 'object' };
const properties = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));

it.each([
  ['no schema', undefined, 'send hello --wait'],
  ['nothing that has to be there', { type: 'object', properties }, 'send hello --wait'],
  ['an empty list', { required: [] }, 'send hello --wait'],
  ['no list', { required: 'name' }, 'send hello --wait'],
  ['a text', { properties, required: ['name'] }, `send hello --payload '{"name":"…"}' --wait`],
  ['no properties', { required: ['name'] }, `send hello --payload '{"name":"…"}' --wait`],
  [
    'all of them',
    { properties, required: Object.keys(types) },
    `send hello --payload '{"name":"…","count":1,"isNew":true,"tags":[],"more":{}}' --wait`,
  ],
  [
    'a name that a shell would read',
    { required: ["it's"] },
    `send hello --payload '{"it'\\''s":"…"}' --wait`,
  ],
])('an example of how one would send: %s', (_what, inputSchema, words) => {
  const mcp = inputSchema === undefined ? {} : { mcp: { inputSchema } };
  expect(sendExample({ name: 'hello', ...mcp })).toBe(words);
});
