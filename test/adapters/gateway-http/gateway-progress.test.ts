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

/** A gateway whose answers the test controls; it counts requests. */
function progressWith(answer: () => Promise<Answer>) {
  const clock = virtualClock();
  const requests: (readonly Report[])[] = [];
  const problems: string[] = [];
  const post: PostReports = (reports) => {
    requests.push(reports);
    return answer();
  };
  const progress = gatewayProgress(GATEWAY, { clock, post, onProblem: (problem) => problems.push(problem) });
  return { clock, requests, problems, progress };
}

const FINE: Answer = { canceled: new Set() };
const never = () => new Promise<Answer>(() => {});

describe('a progress report', () => {
  withoutRequestTimeouts();

  it('returns whether the task was canceled', async () => {
    const { progress } = progressWith(async () => ({ canceled: new Set(['t-2']) }));
    expect(await progress.arrived(aStep('received', 0))).toBe(false);
    expect(await progress.arrived(aStep('received', 0, { task: 't-2' }))).toBe(true);
  });

  it('is batched, one request at a time', async () => {
    const { progress, requests } = progressWith(async () => FINE);
    for (let nth = 0; nth < 250; nth++) progress.note(aStep('processing', nth));
    await progress.flush();
    expect(requests.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('waits for a hanging gateway once, and not again for 30 s', async () => {
    const { clock, progress, requests } = progressWith(never);
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

  it('waits for a slow gateway at most a tenth of the time', async () => {
    const { clock, progress, requests } = progressWith(async () => {
      await clock.sleep(150);
      return FINE;
    });
    const startedAt = clock.now();
    for (let nth = 0; nth < 100; nth++) {
      await clock.passUntilSettled(progress.arrived(aStep('received', nth)));
      await clock.pass(100);
    }
    // 100 times 100 ms of work; waiting may take at most a tenth of that.
    const waitedMs = clock.now() - startedAt - 10_000;
    expect([waitedMs > 500, waitedMs <= 1_200, requests.length > 10]).toEqual([true, true, true]);
  });

  it('waits again once the gateway answers', async () => {
    let release = (_: Answer) => {};
    const { clock, progress } = progressWith(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
    );
    await clock.passUntilSettled(progress.arrived(aStep('received', 0)));
    release(FINE);
    await clock.pass(2_500);
    const arriving = progress.arrived(aStep('received', 1));
    await new Promise((resolve) => setImmediate(resolve));
    release({ canceled: new Set(['t-1']) });
    expect(await arriving).toBe(true);
  });

  it('uses a late answer for later envelopes', async () => {
    let release = (_: Answer) => {};
    const { clock, progress, requests } = progressWith(
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

  it('logs a failed request once, without an error', async () => {
    const { progress, problems } = progressWith(async () => ({ problem: 'refused' }));
    for (let nth = 0; nth < 3; nth++) expect(await progress.arrived(aStep('received', nth))).toBe(false);
    await progress.flush();
    expect(problems).toEqual(['refused']);
  });

  it('is signed', async () => {
    const received: { body: string; signature: unknown }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      received.push({ body, signature: request.headers['x-asya-signature'] });
      response.end('{"canceled":["t-1", 7]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    // The clock does not advance, so the wait for the answer never times out on a busy machine.
    const clock = virtualClock();
    const progress = gatewayProgress({ url, secret: 's' }, { clock, onProblem: () => {} });
    expect(await progress.arrived(aStep('received', 0))).toBe(true);
    const [{ body, signature } = { body: '', signature: '' }] = received;
    const [, seconds, mac] = /^t=(\d+),v1=(\w+)$/.exec(String(signature)) ?? [];
    expect(createHmac('sha256', 's').update(`${seconds}.${body}`).digest('hex')).toBe(mac);
    server.closeAllConnections();
    server.close();
  });
});
