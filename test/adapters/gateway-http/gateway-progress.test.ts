import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gatewayProgress } from '../../../lib/adapters/gateway-http/gateway-progress.ts';
import type { Answer, PostReports } from '../../../lib/adapters/gateway-http/signed-post.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import { virtualClock } from '../../app/virtual-clock.ts';
import { aStep } from '../../core/a-task.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';

const GATEWAY = { url: 'http://gateway.invalid' };

/** A gateway that answers when told, and counts. */
function asked(answer: () => Promise<Answer>) {
  const clock = virtualClock();
  const requests: (readonly Report[])[] = [];
  const troubles: string[] = [];
  const post: PostReports = (reports) => {
    requests.push(reports);
    return answer();
  };
  const progress = gatewayProgress(GATEWAY, { clock, post, onProblem: (problem) => troubles.push(problem) });
  return { clock, requests, troubles, progress };
}

const FINE: Answer = { canceled: new Set() };
const never = () => new Promise<Answer>(() => {});

describe('what is told on the way', () => {
  withoutRequestTimeouts();

  it('is answered with whether the task was canceled', async () => {
    const { progress } = asked(async () => ({ canceled: new Set(['t-2']) }));
    expect(await progress.arrived(aStep('received', 0))).toBe(false);
    expect(await progress.arrived(aStep('received', 0, { task: 't-2' }))).toBe(true);
  });

  it('goes together, one request at a time', async () => {
    const { progress, requests } = asked(async () => FINE);
    for (let nth = 0; nth < 250; nth++) progress.note(aStep('processing', nth));
    await progress.flush();
    expect(requests.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('makes one envelope wait for a gateway that hangs, and for half a minute no other', async () => {
    const { clock, progress, requests } = asked(never);
    const startedAt = clock.now();
    expect(await clock.passUntilSettled(progress.arrived(aStep('received', 0)))).toBe(false);
    expect(clock.now() - startedAt).toBe(250);
    for (let nth = 0; nth < 5_000; nth++) {
      expect(await progress.arrived(aStep('received', nth))).toBe(false);
      progress.note(aStep('completed', nth));
    }
    await progress.flush();
    expect([clock.now() - startedAt, requests.length]).toEqual([250, 1]);
    await clock.pass(30_000);
    await clock.passUntilSettled(progress.arrived(aStep('received', 0)));
    expect(clock.now() - startedAt).toBe(30_500);
  });

  it('is waited for a tenth of the time where the gateway is slow', async () => {
    const { clock, progress, requests } = asked(async () => {
      await clock.sleep(150);
      return FINE;
    });
    const startedAt = clock.now();
    for (let nth = 0; nth < 100; nth++) {
      await clock.passUntilSettled(progress.arrived(aStep('received', nth)));
      await clock.pass(100);
    }
    // A hundred times a hundred milliseconds of work, and no more than a tenth of that for waits.
    const waitedMs = clock.now() - startedAt - 10_000;
    expect([waitedMs > 500, waitedMs <= 1_200, requests.length > 10]).toEqual([true, true, true]);
  });

  it('is waited for again once the gateway answers', async () => {
    let release = (_: Answer) => {};
    const { clock, progress } = asked(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    await clock.passUntilSettled(progress.arrived(aStep('received', 0)));
    release(FINE);
    await clock.pass(2_500);
    const asking = progress.arrived(aStep('received', 1));
    await new Promise((resolve) => setImmediate(resolve));
    release({ canceled: new Set(['t-1']) });
    expect(await asking).toBe(true);
  });

  it('tells whoever comes later what nobody had waited for', async () => {
    let release = (_: Answer) => {};
    const { clock, progress, requests } = asked(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    await clock.passUntilSettled(progress.arrived(aStep('received', 0)));
    release({ canceled: new Set(['t-1']) });
    await clock.pass(1);
    expect([await progress.arrived(aStep('received', 1)), requests.length]).toEqual([true, 1]);
  });

  it('that nobody takes is said once, and fails nothing', async () => {
    const { progress, troubles } = asked(async () => ({ problem: 'refused' }));
    for (let nth = 0; nth < 3; nth++) expect(await progress.arrived(aStep('received', nth))).toBe(false);
    await progress.flush();
    expect(troubles).toEqual(['refused']);
  });

  it('is signed', async () => {
    const heard: { body: string; signature: unknown }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      heard.push({ body, signature: request.headers['x-asya-signature'] });
      response.end('{"canceled":["t-1", 7]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    // Its time stands still, so that the answer is waited for however busy the machine is.
    const clock = virtualClock();
    const progress = gatewayProgress({ url, secret: 's' }, { clock, onProblem: () => {} });
    expect(await progress.arrived(aStep('received', 0))).toBe(true);
    const [{ body, signature } = { body: '', signature: '' }] = heard;
    const [, seconds, mac] = /^t=(\d+),v1=(\w+)$/.exec(String(signature)) ?? [];
    expect(createHmac('sha256', 's').update(`${seconds}.${body}`).digest('hex')).toBe(mac);
    server.closeAllConnections();
    server.close();
  });
});
