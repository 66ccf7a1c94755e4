import type { HttpFace } from '../../adapters/http/http-face.ts';
import { methodProblem } from '../../adapters/http/problem.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import type { Gateway } from '../../app/gateway/gateway.ts';
import { once } from '../../async/once.ts';
import { defined } from '../../core/text/defined.ts';
import { stackText } from '../../core/text/error-text.ts';

export interface Faces {
  readonly gateway: Gateway;
  readonly origins: readonly string[];
  readonly publicUrl?: string;
  readonly keepAliveMs: number;
  readonly log: JsonLog;
}

const ABOUT = { name: 'asya', description: 'Flows of an actor mesh', version: '1' };
const CARD = '/.well-known/agent-card.json';
/** Below what hosts give a request: a call that takes longer is told that its task goes on. */
const MAX_CALL_MS = 840_000;

/**
 * MCP at /mcp and A2A at /a2a, behind the same door as everything else; only the agent card is for everybody. Their
 * packages are loaded with the first call: plain HTTP starts without them.
 */
export function mountFaces(face: HttpFace, { gateway, origins, publicUrl, keepAliveMs, log }: Faces): void {
  const onBug = (error: unknown) => {
    const problem = stackText(error);
    log.warn('a bug in the gateway', { problem });
  };
  const common = { gateway, about: ABOUT, onBug, keepAliveMs, maxWaitMs: MAX_CALL_MS };
  const mcp = once(async () => {
    const { mcpFace } = await import('../../adapters/mcp/mcp-face.ts');
    return mcpFace({ ...common, allowedOrigins: origins });
  });
  const a2a = once(async () => {
    const { a2aFace } = await import('../../adapters/a2a/a2a-face.ts');
    return a2aFace({ ...common, ...defined({ baseUrl: publicUrl }) });
  });
  face.mountFace(
    (app) => {
      app.all('/mcp', async (c) => (await mcp())(c.req.raw, c.get('caller')));
      app.all('/a2a', async (c) => (await a2a()).handle(c.req.raw, c.get('caller')));
      app.get(CARD, async (c) => (await a2a()).card(c.req.raw));
      app.all(CARD, () => methodProblem('GET'));
    },
    [CARD],
  );
}
