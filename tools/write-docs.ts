import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DELAYER_SETTINGS } from '../lib/config/settings/delayer-settings.ts';
import type { Setting, SettingTable } from '../lib/config/settings/setting.ts';
import { SETTINGS } from '../lib/config/settings/settings.ts';
import { dashboardPicture } from './dashboard-picture.ts';
import { decisionsPage } from './decisions-page.ts';
import { metricsPage } from './metrics-page.ts';
import { transportsPage } from './transports-page.ts';

/** `npm run docs`: writes the pages that are made from code. A test holds them to it. */

const HEAD = `# Configuration

A sidecar is configured by its environment alone. Everything is read and checked at start; every mistake is
reported at once, with the variable, the value that came and what would be right, and nothing falls back in
silence. A variable that begins with \`ASYA_\` and is not in this table is a mistake too, except for the service links
that Kubernetes injects (\`ASYA_GATEWAY_SERVICE_HOST\`, \`ASYA_GATEWAY_PORT=tcp://...\` and the like), which are ignored.

An empty variable is not set, except where the table says "empty =".

This page is made from the schema (\`lib/config/settings/settings.ts\`) by \`npm run docs\`.

`;

const TABLE_HEAD = `| Variable | Takes | Default | What it says |
|---|---|---|---|
`;

const TAIL = `
Durations are written as Go writes them: \`300ms\`, \`1.5s\`, \`5m\`, \`1h30m\`. Flags also take \`yes\`/\`no\`,
\`on\`/\`off\` and \`1\`/\`0\`, in any case. Policies and rules are described in [error-handling.md](error-handling.md).
`;

function configurationPage(): string {
  return HEAD + settingsTable(SETTINGS) + TAIL;
}

function settingsTable(table: SettingTable): string {
  const rows = Object.entries(table).map(([name, setting]) => row(name, setting));
  return `${TABLE_HEAD}${rows.join('\n')}\n`;
}

const BEGIN = '<!-- settings: begin -->';
const END = '<!-- settings: end -->';

/** Written by hand but for its table. */
function pageWithTable(path: string, table: SettingTable): string {
  const page = readFileSync(join(ROOT, path), 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const [, after] = rest.split(END);
  if (after === undefined) throw new Error(`${path} has no place for its table: ${BEGIN}, ${END}`);
  return `${before}${BEGIN}\n${settingsTable(table)}${END}${after}`;
}

function row(name: string, setting: Setting<unknown>): string {
  const { takes, about, fallback, fallbackWords, emptyMeans } = setting;
  const written = fallback === '' ? 'none' : `\`${fallback}\``;
  const empty = emptyMeans === undefined ? '' : `; empty = ${emptyMeans}`;
  return `| \`${name}\` | ${takes} | ${fallbackWords ?? written}${empty} | ${about} |`.replaceAll('\n', ' ');
}

const ROOT = join(import.meta.dirname, '..');

export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
  'docs/transports.md': transportsPage,
  'docs/pubsub-delayer.md': () => pageWithTable('docs/pubsub-delayer.md', DELAYER_SETTINGS),
  'docs/metrics.md': () => metricsPage(ROOT),
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
