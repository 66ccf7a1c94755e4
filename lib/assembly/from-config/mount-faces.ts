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
/** Below the hosts' request timeout. A longer call is answered with the current state; its task continues. */
const MAX_CALL_MS = 840_000;

/**
 * Adds MCP at /mcp and A2A at /a2a, with the same authentication as the HTTP routes; only the agent card is public.
 * Their packages are loaded with the first request, so that plain HTTP starts without them.
 */
export function mountFaces(face: HttpFace, { gateway, origins, publicUrl, keepAliveMs, log }: Faces): void {
  const onBug = (error: unknown) => {
    const problem = stackText(error);
    log.warn('internal error in the gateway', { problem });
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
