/** A document like those that travel: records with text, numbers and flags, of about so many bytes. */
export function documentOf(bytes: number): string {
  const records: string[] = [];
  let length = 0;
  for (let index = 0; length < bytes; index++) {
    const record = JSON.stringify({
      id: `rec-${index}`,
      text: `The quick brown fox number ${index} jumps over the lazy dog, and the dog does not mind at all.`,
      score: index * 0.125,
      tags: ['alpha', 'beta'],
      isKept: index % 2 === 0,
    });
    records.push(record);
    length += record.length + 1;
  }
  return `{"records":[${records.join(',')}]}`;
}

export function envelopeOf(payload: string, id = 'e-1'): string {
  return `{"id":"${id}","route":{"prev":["fetch"],"curr":"score","next":["store"]},"headers":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},"payload":${payload},"status":{"phase":"pending","actor":"fetch","attempt":1,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:02Z","deadline_at":"2036-01-01T00:05:00Z"}}`;
}
