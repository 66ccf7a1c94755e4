import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DELAYER } from '../lib/config/settings/groups/delayer.ts';
import type { Group, Setting } from '../lib/config/settings/setting.ts';
import { CHAPTERS } from '../lib/config/settings/settings.ts';
import { dashboardPicture } from './dashboard-picture.ts';
import { decisionsPage } from './decisions-page.ts';
import { metricsPage } from './metrics-page.ts';
import { scalingPage } from './scaling-page.ts';
import { transportsPage } from './transports-page.ts';

/** `npm run docs`: writes the pages that are generated from code. A test compares them. */

const HEAD = `# Configuration

Sidecars, the crew and the gateway are configured by environment variables. All of them are read and checked at startup.
If something is wrong, the process prints every mistake at once, with the variable, the value that it received and what
would be valid, and does not start.

A variable that starts with \`ASYA_\` and is not on this page is a mistake too. The only exceptions are the service links
that Kubernetes injects (\`ASYA_GATEWAY_SERVICE_HOST\`, \`ASYA_GATEWAY_PORT=tcp://...\` and so on), which are ignored.

An empty variable counts as not set, unless its default says "empty =".

Durations have the format of Go: \`300ms\`, \`1.5s\`, \`5m\`, \`1h30m\`. Flags also accept \`yes\`/\`no\`, \`on\`/\`off\` and
\`1\`/\`0\`, in upper or lower case. For policies and rules, see [error-handling.md](error-handling.md).

\`npm run docs\` generates this page from the settings table in \`lib/config/settings/groups/\`.
`;

const TABLE_HEAD = `| Variable | Valid values | Default | Meaning |
|---|---|---|---|
`;

function configurationPage(): string {
  const chapters = CHAPTERS.map(({ title, groups }) => `\n## ${title}\n\n${settingsTable(groups)}`);
  return HEAD + chapters.join('');
}

function settingsTable(groups: readonly Group[]): string {
  const rows = groups.flatMap((group) => Object.values(group).map(row));
  return `${TABLE_HEAD}${rows.join('\n')}\n`;
}

const BEGIN = '<!-- settings: begin -->';
const END = '<!-- settings: end -->';

/** A page whose table is generated and whose text is not. */
function pageWithTable(path: string, group: Group): string {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${path} has no markers for its table: ${BEGIN}, ${END}`);
  return `${before}${BEGIN}\n${settingsTable([group])}${END}${after}`;
}

function row({
  variable,
  takes,
  about,
  defaultText,
  defaultDescription,
  emptyMeans,
}: Setting<unknown>): string {
  const text = defaultText === '' ? 'none' : `\`${defaultText}\``;
  const empty = emptyMeans === undefined ? '' : `; empty = ${emptyMeans}`;
  return `| \`${variable}\` | ${takes} | ${defaultDescription ?? text}${empty} | ${about} |`.replaceAll(
    '\n',
    ' ',
  );
}

const ROOT = join(import.meta.dirname, '..');

export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
  'docs/transports.md': transportsPage,
  'docs/pubsub-delayer.md': () => pageWithTable('docs/pubsub-delayer.md', DELAYER),
  'docs/metrics.md': () => metricsPage(ROOT),
  'docs/scaling.md': () => scalingPage(ROOT),
  'docs/decisions.md': () => decisionsPage(ROOT),
  'docs/dashboard.svg': () => dashboardPicture(ROOT),
};

if (import.meta.main) {
  for (const [path, page] of Object.entries(PAGES)) {
    const isChanged = readOrEmpty(join(ROOT, path)) !== page();
    if (isChanged) writeFileSync(join(ROOT, path), page());
    console.log(`${path}: ${isChanged ? 'written' : 'unchanged'}`);
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
