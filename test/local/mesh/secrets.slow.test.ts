import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { LocalMesh, MeshEvent } from '../../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { asya } from '../../cli/run-asya.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn, type Outside, outsideOf } from '../a-mesh.ts';

/** Secrets on a laptop: from `.env`, then from the shell, in a real mesh. */

const ACTOR = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: show}
spec:
  handler: show.ts.show
  environment: {MODEL: small}
  secrets:
    OPENAI_API_KEY: {secretsManager: my/openai, key: api_key}
    DATABASE_URL: {ssm: /my/database}
  resiliency: {actorTimeout: 20s}
`;
const HANDLER = 'export const show = () => ({ ...process.env });\n';
const SHELL = { ...process.env, DATABASE_URL: 'shell-value', UNRELATED: 'not passed' };
/** Set by the shell that starts the runtime. */
const OF_SHELL = ['PWD', 'OLDPWD', 'SHLVL', '_'];

interface Running {
  readonly folder: string;
  readonly mesh: LocalMesh;
  readonly outside: Outside;
  readonly warnings: string[];
  /** The current problem of the actor. */
  readonly problem: () => string | undefined;
  shown(id: string): Promise<Record<string, string>>;
}

async function run(files: Readonly<Record<string, string>>): Promise<Running> {
  const folder = aFolder({ 'actors.yaml': ACTOR, 'show.ts': HANDLER, ...files });
  const warnings: string[] = [];
  let problem: string | undefined;
  const started = await startMesh({
    manifest: manifestIn(folder),
    folder,
    replicas: 1,
    gateway: {},
    shell: SHELL,
    onEvent: (event: MeshEvent) => {
      if (event.event === 'warning') warnings.push(event.text);
      if (event.event === 'problem' && event.actor === 'show') problem = event.problem;
    },
  });
  if ('problem' in started) throw new Error(started.problem);
  const { mesh } = started;
  const outside = outsideOf(mesh.variables);
  onTestFinished(async () => {
    await outside.close();
    await mesh.close(1_000);
  });
  const shown = async (id: string) =>
    (await outside.payloadOf(await outside.untilEnded(id))) as Record<string, string>;
  return { folder, mesh, outside, warnings, problem: () => problem, shown };
}

test('an actor waits for a missing secret, then processes the envelopes in its queue', {
  timeout: 120_000,
}, async () => {
  const { folder, mesh, outside, warnings, problem, shown } = await run({});
  expect(warnings).toEqual([
    `actor "show" waits, and its envelopes stay in its queue: no value for OPENAI_API_KEY (actors.yaml:8); add it to "${folder}/.env", or set it in the shell and start the mesh again`,
  ]);
  expect(problem()).toBe(warnings[0]);
  await outside.send(['show'], 'early');
  expect((await mesh.depths()).get('show')).toMatchObject({ visible: 1, inFlight: 0 });
  expect(await mesh.applySecrets()).toEqual([]);

  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=first-value\n');
  expect(await mesh.applySecrets()).toEqual(['show starts: it has all its secrets']);
  expect(problem()).toBeUndefined();
  expect(await shown('early')).toMatchObject({ OPENAI_API_KEY: 'first-value', DATABASE_URL: 'shell-value' });

  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=second\nDATABASE_URL=of the file\n');
  expect(await mesh.applySecrets()).toEqual(['show restarts with its new secrets']);
  await outside.send(['show'], 'second');
  expect(await shown('second')).toMatchObject({ OPENAI_API_KEY: 'second', DATABASE_URL: 'of the file' });

  rmSync(join(folder, '.env'));
  expect(await mesh.applySecrets()).toEqual([]);
  expect(warnings).toHaveLength(2);
  await outside.send(['show'], 'late');
  expect((await mesh.depths()).get('show')).toMatchObject({ visible: 1, inFlight: 0 });
});

test('asya env lists exactly the variables that the handler has', { timeout: 120_000 }, async () => {
  const { folder, outside, shown } = await run({ '.env': 'OPENAI_API_KEY=first-value\n' });
  await outside.send(['show'], 'one');
  const environment = await shown('one');
  const listed = await asya(['env', 'show', folder, '--host', 'local', '--json'], {
    env: SHELL as Record<string, string>,
  });
  const { variables } = JSON.parse(listed.out).hosts.local as {
    variables: { name: string; value?: string }[];
  };
  const names = Object.keys(environment).filter((name) => !OF_SHELL.includes(name));
  expect(variables.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  for (const { name, value } of variables) if (value !== undefined) expect(environment[name]).toBe(value);
  expect(listed.raw).not.toMatch(/first-value|shell-value/);
});
