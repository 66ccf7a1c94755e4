import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { gatewayConfigFrom } from '../../lib/assembly/from-config/gateway-from-config.ts';
import { reportsFromConfig } from '../../lib/assembly/from-config/reports-from-config.ts';
import { transportOnLambda } from '../../lib/assembly/from-config/transport-on-lambda.ts';

const { config, log } = gatewayConfigFrom(process.env);
/** Started during init. The bundle is loaded synchronously, so each request awaits it. */
const starting = reportsFromConfig(config, process.env, log, transportOnLambda);

const app = new Hono();
app.all('*', async (c) => (await starting).fetch(c.req.raw, c.env));

/** The gateway's reports on Lambda: a separate function, so that callers cannot use up its concurrency. */
export const handler: ReturnType<typeof handle> = handle(app);
