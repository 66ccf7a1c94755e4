import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Setting } from '../lib/config/setting.ts';
import { SETTINGS } from '../lib/config/settings.ts';
import { dashboardPicture } from './dashboard-picture.ts';
import { transportsPage } from './transports-page.ts';

/** `npm run docs`: writes the pages that are made from code. A test holds them to it. */

const HEAD = `# Configuration

A sidecar is configured by its environment alone. Everything is read and checked at start; every mistake is
reported at once, with the variable, the value that came and what would be right, and nothing falls back in
silence. A variable that begins with \`ASYA_\` and is not in this table is a mistake too.

This page is made from the schema (\`lib/config/settings.ts\`) by \`npm run docs\`.

| Variable | Takes | Default | What it says |
|---|---|---|---|
`;

const TAIL = `
Durations are written as Go writes them: \`300ms\`, \`1.5s\`, \`5m\`, \`1h30m\`. Flags also take \`yes\`/\`no\`,
\`on\`/\`off\` and \`1\`/\`0\`, in any case. Policies and rules are described in [error-handling.md](error-handling.md).
`;

export function configurationPage(): string {
  const rows = Object.entries(SETTINGS).map(([name, setting]) => row(name, setting as Setting<unknown>));
  return HEAD + rows.join('\n') + TAIL;
}

function row(name: string, { takes, about, fallback, fallbackWords }: Setting<unknown>): string {
  const written = fallback === '' ? 'none' : `\`${fallback}\``;
  return `| \`${name}\` | ${takes} | ${fallbackWords ?? written} | ${about} |`.replaceAll('\n', ' ');
}

const ROOT = join(import.meta.dirname, '..');

export const PAGES: Readonly<Record<string, () => string>> = {
  'docs/configuration.md': configurationPage,
  'docs/transports.md': transportsPage,
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
