import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { actorText } from '../config/manifest/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { endDevs, startDev } from './dev-process.ts';
import { asya } from './run-asya.ts';

afterEach(endDevs);

describe('asya dev with a broken handler', () => {
  it('starts the mesh with a warning, and the actor when its file is fixed', {
    timeout: 180_000,
  }, async () => {
    const cwd = aFolder({
      'mesh/good.yaml': actorText('good', 'handler: good.ts.good'),
      'mesh/good.ts': 'export const good = (payload: unknown) => payload;\n',
      'mesh/bad.yaml': actorText('bad', 'handler: bad.ts.bad'),
      'mesh/bad.ts': 'export const bad = (payload: unknown) => {;\n',
      'mesh/flows.yaml': 'flows: [{name: f, entrypoint: good, route_next: [bad], timeout: 1200}]\n',
    });
    const validated = await asya(['validate', 'mesh'], { cwd });
    expect(validated.status).toBe(2);
    expect(validated.err).toContain(
      'bad.yaml:6:3 spec.handler: is "bad.ts.bad", but bad.ts:2:1 is not valid',
    );
    const dev = startDev(cwd, 'mesh', '--plain');
    await dev.untilPrinted(
      'warning: bad.yaml:6:3 spec.handler: is "bad.ts.bad", but bad.ts:2:1 is not valid',
    );
    await dev.untilRunning();
    await dev.untilPrinted(/bad \| .*SyntaxError/);
    writeFileSync(join(cwd, 'mesh/bad.ts'), 'export const bad = (payload: unknown) => payload;\n');
    await dev.untilPrinted('bad restarts: bad.ts changed');
    const sent = await asya(['send', 'f', '--wait'], { cwd });
    expect(sent).toMatchObject({ status: 0 });
    writeFileSync(join(cwd, 'mesh/good.yaml'), actorText('good', 'handler: good.ts.god'));
    await dev.untilPrinted(
      '! good.yaml:6:3 spec.handler: is "good.ts.god", but "good.ts" has no function "god"',
    );
    dev.signal('SIGINT');
    expect(await dev.exited).toMatchObject({ code: 0 });
  });
});
