/** The text of `/metrics` as numbers by series: `name{label="value"}`, labels in the order of their names. */
export type Series = ReadonlyMap<string, number>;

function seriesFromText(text: string): Series {
  const series = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name !== undefined) series.set(seriesName(name, labelsFromText(labels)), Number(value));
  }
  return series;
}

export function seriesName(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}="${value}"`).join(',')}}`;
}

function labelsFromText(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]));
}

export async function scrape(port: number): Promise<Series> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (!response.ok) throw new Error(`/metrics answers ${response.status}`);
  return seriesFromText(await response.text());
}
