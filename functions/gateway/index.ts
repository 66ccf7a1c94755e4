import { Hono } from 'hono';
import { streamHandle } from 'hono/aws-lambda';
import { gatewayConfigFrom, gatewayFromConfig } from '../../lib/assembly/from-config/gateway-from-config.ts';
import { transportOnLambda } from '../../lib/assembly/from-config/transport-on-lambda.ts';

const { config, log } = gatewayConfigFrom(process.env);
/** Started during init. The bundle is loaded synchronously, so each request awaits it. */
const starting = gatewayFromConfig(config, process.env, log, transportOnLambda);

const app = new Hono();
app.all('*', async (c) => (await starting).face.app.fetch(c.req.raw, c.env));

/** The gateway on Lambda: a function URL with response streaming, so that events arrive as they happen. */
export const handler: ReturnType<typeof streamHandle> = streamHandle(app);
