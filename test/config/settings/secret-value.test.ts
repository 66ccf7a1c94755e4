import { expect, it } from 'vitest';
import { secretValue } from '../../../lib/config/settings/secret-value.ts';

it.each([
  ['the whole text without a key', 'sk-1', undefined, 'sk-1'],
  ['a whole JSON text without a key', '{"a":1}', undefined, '{"a":1}'],
  ['an empty text', '', undefined, ''],
  ['the text of a key', '{"api_key":"sk-1","org":"o"}', 'api_key', 'sk-1'],
  ['a number of a key as JSON', '{"port":5432}', 'port', '5432'],
  ['an object of a key as JSON', '{"keys":{"a":[1]}}', 'keys', '{"a":[1]}'],
])('is %s', (_title, text, key, value) => {
  expect(secretValue(text, key)).toEqual({ ok: true, value });
});

it.each([
  ['a text that is not JSON', 'sk-hidden', 'api_key', 'it is not a JSON object, so it has no key "api_key"'],
  ['JSON that is not an object', '["sk-hidden"]', '0', 'it is not a JSON object, so it has no key "0"'],
  ['another key', '{"apikey":"sk-hidden"}', 'api_key', 'it has no key "api_key"'],
  ['null', '{"api_key":null}', 'api_key', 'it has no key "api_key"'],
  ['an inherited key', '{"a":"sk-hidden"}', 'toString', 'it has no key "toString"'],
  ['NUL', 'sk-hidden\0', undefined, 'it contains a NUL character, which a variable cannot contain'],
])('reports %s without a part of the text', (_title, text, key, problem) => {
  expect(secretValue(text, key)).toEqual({ ok: false, problem });
});
