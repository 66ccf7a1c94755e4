import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { exampleMesh } from './example-mesh.ts';

/** Commands of a page, each followed by a code block with its output. */
export const SHOWN_COMMAND = /^(```sh\nnpx asya (.*)\n```\n\n```\n)([\s\S]*?)^```/gm;

/** docs/scaling.md with the output of its commands, run on the example of docs/manifest.md. */
export function scalingPage(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'asya-scaling-'));
  try {
    for (const [path, text] of Object.entries(exampleMesh(root))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const page = readFileSync(join(root, 'docs/scaling.md'), 'utf8');
    return page.replace(
      SHOWN_COMMAND,
      (_, before: string, command: string) => `${before}${outputOf(command, folder, root)}\`\`\``,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function outputOf(command: string, cwd: string, root: string): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'bin/asya.js'), ...command.split(' ')],
    { cwd, encoding: 'utf8' },
  );
  if (status === 0) return stdout;
  throw new Error(`docs/scaling.md: npx asya ${command} ended with ${status}: ${stderr}`);
}
