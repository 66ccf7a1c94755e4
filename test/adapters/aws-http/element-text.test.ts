import { expect, it } from 'vitest';
import { elementText } from '../../../lib/adapters/aws-http/element-text.ts';

it.each([
  ['<a><b>text</b></a>', 'text'],
  ['<b>&lt;&amp;&gt;&quot;&apos;&#65;&#x1F600;</b>', `<&>"'A😀`],
  ['<b></b>', ''],
  ['<b> kept </b>', ' kept '],
])('the text of <b> in %s is %j', (xml, text) => {
  expect(elementText(xml, 'b')).toBe(text);
});

it.each([
  ['missing', '<a>text</a>'],
  ['ambiguous', '<b>1</b><b>2</b>'],
  ['not only text', '<b>1<c/></b>'],
  ['not closed', '<b>text'],
  ['closed by another', '<b>text</a>'],
  ['with an unknown entity', '<b>&unknown;</b>'],
  ['with an entity that is not closed', '<b>&amp</b>'],
  ['with a character that does not exist', '<b>&#x110000;</b>'],
])('is undefined if it is %s', (_what, xml) => {
  expect(elementText(xml, 'b')).toBeUndefined();
});
