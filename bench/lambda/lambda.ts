import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ask, startChild, stopChild } from '../child.ts';
import type { Row } from '../report.ts';
import { compare, GATEWAY_GOALS, GOALS } from './comparisons.ts';
import { deployActors } from './deploy-actors.ts';
import { deployPeers, STORE } from './deploy-peers.ts';
import { envelopesSoFar } from './events.ts';
import { programsIn } from './execution-environment.ts';
import { measureCold, measureMemory, measureWarm } from './measure-functions.ts';

/**
 * What a user pays: the deployed functions of a Node and a Python actor, next to handlers that do the same work without a
 * sidecar. All of them run on the same runtime interface and send to the same stub of SQS.
 */
export async function benchLambda(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-bench-'));
  const [sqs, gateway] = await Promise.all([
    startChild('lambda/stubs/sqs-stub.ts'),
    startChild('lambda/stubs/gateway-stub.ts'),
  ]);
  try {
    const stubs = { sqs: String(sqs.firstMessage), gateway: String(gateway.firstMessage) };
    const programs = programsIn(join(folder, 'bin'));
    const peers = deployPeers(folder, programs, stubs.sqs);
    const functions = [
      ...deployActors(folder, programs, stubs, { hasGateway: false }),
      ...deployActors(folder, programs, stubs, { hasGateway: true }),
      ...peers,
    ];
    const measured = {
      first: await measureCold(functions),
      ...(await measureWarm(functions)),
      memory: await measureMemory(functions),
    };
    const { [STORE]: arrived } = (await ask(sqs.child, 'counts')) as Record<string, number>;
    if (arrived !== envelopesSoFar())
      throw new Error(
        `${arrived} of ${envelopesSoFar()} envelopes arrived at ${STORE}; the figures are not valid`,
      );
    if ((await ask(gateway.child, 'count')) === 0)
      throw new Error('the gateway received no request; the figures are not valid');
    return [
      ...compare('Node actor / plain handler', measured, 'node', 'plain', GOALS),
      ...compare('Node actor / Powertools', measured, 'node', 'powertools', GOALS),
      ...compare('Python actor / plain handler', measured, 'python', 'plain', GOALS),
      ...(peers.some(({ name }) => name === 'plain-python')
        ? compare('Python actor / plain Python handler', measured, 'python', 'plain-python')
        : []),
      ...compare('Node actor with gateway / without', measured, 'node-gateway', 'node', GATEWAY_GOALS),
      ...compare('Python actor with gateway / without', measured, 'python-gateway', 'python', GATEWAY_GOALS),
    ];
  } finally {
    await Promise.all([stopChild(sqs.child), stopChild(gateway.child)]);
    rmSync(folder, { recursive: true });
  }
}
