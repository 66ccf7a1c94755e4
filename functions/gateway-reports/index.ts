import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { gatewayConfigFrom } from '../../lib/assembly/from-config/gateway-from-config.ts';
import { reportsFromConfig } from '../../lib/assembly/from-config/reports-from-config.ts';
import { transportOnLambda } from '../../lib/assembly/from-config/sqs-from-config.ts';

const { config, log } = gatewayConfigFrom(process.env);
/** Begun before the first request; a bundle that is imported synchronously cannot wait for it. */
const starting = reportsFromConfig(config, process.env, log, transportOnLambda);

const door = new Hono();
door.all('*', async (c) => (await starting).fetch(c.req.raw, c.env));

/** The gateway's reports on Lambda: callers have a function of their own, and cannot use up this one's concurrency. */
export const handler: ReturnType<typeof handle> = handle(door);
