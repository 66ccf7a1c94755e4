import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const HEAD = `# Decisions

Why the project is built the way it is: one record per decision, newest first. Each record gives the context and
the decision and, where there are any, its consequences and the alternatives that were considered.

To find the records about one topic, search for its area, for example:

\`\`\`sh
grep -l '^- Area: rabbitmq' docs/decisions/*.md
\`\`\`

## Add a record

1. Copy the newest record to \`docs/decisions/NNNN-short-title.md\`, with the next number.
2. Fill in the date, the status and the area. The status is \`Accepted\`, or \`Superseded by NNNN\` once a later record
   replaces it. Leave out sections that have no content.
3. Run \`npm run docs\`, which generates this page from the records.

## All records

| Date | Decision | Area | Status |
|---|---|---|---|
`;

/** The index of the decision records: one row for each file in docs/decisions, newest first. */
export function decisionsPage(root: string): string {
  const files = globSync('docs/decisions/*.md', { cwd: root }).toSorted().reverse();
  return `${HEAD}${files.map((file) => row(root, file)).join('\n')}\n`;
}

function row(root: string, file: string): string {
  const text = readFileSync(join(root, file), 'utf8');
  const title = found(text, /^# (\d{4}: .+)$/m, file);
  const date = found(text, /^- Date: (\d{4}-\d{2}-\d{2})/m, file);
  const area = found(text, /^- Area: (.+)$/m, file);
  const status = found(text, /^- Status: (Accepted|Superseded by \d{4})$/m, file);
  return `| ${date} | [${title}](decisions/${basename(file)}) | ${area} | ${status} |`;
}

function found(text: string, pattern: RegExp, file: string): string {
  const [, value] = pattern.exec(text) ?? [];
  if (value === undefined) throw new Error(`${file} has no line that matches ${pattern}`);
  return value;
}
