import { createHmac } from 'node:crypto';

/** The key that signs the requests of one day to one service. */
export type SigningKeys = (secret: string, date: string, region: string, service: string) => Buffer;

/** Derives signing keys, and keeps the last one: it changes with the day and the credentials only. */
export function signingKeys(): SigningKeys {
  let last: { readonly of: readonly string[]; readonly key: Buffer } | undefined;
  return (...of) => {
    if (last?.of.every((part, index) => part === of[index])) return last.key;
    last = { of, key: derivedKey(...of) };
    return last.key;
  };
}

function derivedKey(secret: string, date: string, region: string, service: string): Buffer {
  const first = createHmac('sha256', `AWS4${secret}`).update(date).digest();
  return [region, service, 'aws4_request'].reduce(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    first,
  );
}
