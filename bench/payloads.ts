/** Realistic payloads of about the given number of bytes. */
export const PAYLOADS = {
  /** A long text or an encoded picture with a few other fields, as in AI pipelines. */
  text: (bytes: number) =>
    JSON.stringify({ id: 7, model: 'm-1', text: sentence(bytes - 60), temperature: 0.25 }),
  /** Many small records with text, numbers and flags, as in data pipelines. */
  records: (bytes: number) => {
    const records: string[] = [];
    let length = 0;
    for (let index = 0; length < bytes - 14; index++) {
      const record = JSON.stringify({
        id: `r-${index}`,
        text: sentence(60),
        score: index / 8,
        isKept: index % 2 === 0,
      });
      records.push(record);
      length += record.length + 1;
    }
    return `{"records":[${records.join(',')}]}`;
  },
} as const satisfies Readonly<Record<string, (bytes: number) => string>>;

function sentence(length: number): string {
  return 'The quick brown fox jumps over the lazy dog. '.repeat(Math.ceil(length / 45)).slice(0, length);
}

export function envelopeOf(payload: string, id = 'e-1'): string {
  const route = { prev: ['fetch'], curr: 'score', next: ['store'] };
  const headers = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
  const status = {
    phase: 'pending',
    actor: 'fetch',
    attempt: 1,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:02Z',
    deadline_at: '2096-01-01T00:05:00Z',
  };
  const [id_, route_, headers_, status_] = [id, route, headers, status].map((part) => JSON.stringify(part));
  return `{"id":${id_},"route":${route_},"headers":${headers_},"payload":${payload},"status":${status_}}`;
}
