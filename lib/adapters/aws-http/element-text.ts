const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The text of the only element with this name in an XML document. Undefined if there is none, if there are several, or if it
 * contains anything but text.
 */
export function elementText(xml: string, name: string): string | undefined {
  const [, rest, ...others] = xml.split(`<${name}>`);
  if (rest === undefined || others.length > 0) return undefined;
  const end = rest.indexOf('<');
  if (end < 0 || !rest.startsWith(`</${name}>`, end)) return undefined;
  return decoded(rest.slice(0, end));
}

/** Undefined if an entity is unknown. */
function decoded(text: string): string | undefined {
  let isKnown = true;
  const characters = text.replace(/&([^;&]*);?/g, (entity, name: string) => {
    const [, hex, digits] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? [];
    const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : ENTITIES[name];
    isKnown &&= character !== undefined && entity.endsWith(';');
    return character ?? '';
  });
  return isKnown ? characters : undefined;
}
