import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { gatewayProgress } from '../../../lib/adapters/gateway-http/gateway-progress.ts';
import { type Answer, type PostReports, signedPost } from '../../../lib/adapters/gateway-http/signed-post.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import type { Timeouts } from '../../../lib/async/timeouts.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import { virtualClock } from '../../app/virtual-clock.ts';
import { aStep } from '../../core/a-task.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';

/** A gateway whose answers the test controls; it counts requests. */
function progressWith(answer: () => Promise<Answer>) {
  const clock = virtualClock();
  const requests: (readonly Report[])[] = [];
  const problems: string[] = [];
  const post: PostReports = (reports) => {
    requests.push(reports);
    return answer();
  };
  const onProblem = (problem: string) => problems.push(problem);
  const timeouts: Timeouts = {
    start: (milliseconds, onDue) => {
      const over = new AbortController();
      void clock.sleep(milliseconds, over.signal).then(() => {
        if (!over.signal.aborted) onDue();
      });
      return () => over.abort();
    },
    forHandler: (milliseconds) => milliseconds,
  };
  const progress = gatewayProgress({ clock, post, onProblem, timeouts });
  return { clock, requests, problems, progress };
}

const FINE: Answer = { canceled: new Set() };
const never = () => new Promise<Answer>(() => {});

describe('a progress report', () => {
  withoutRequestTimeouts();

  it('is queued for a call that takes a second, unless there is nothing to report', async () => {
    const { clock, progress, requests } = progressWith(async () => FINE);
    let made = 0;
    const make = (nth: number) => () => {
      made++;
      return nth === 2 ? undefined : aStep('processing', nth);
    };
    const [endFirst, endShort, endThird] = [1, 3, 2].map((nth) => progress.follow(make(nth)));
    await clock.pass(999);
    expect(made).toBe(0);
    endShort?.();
    await clock.pass(1);
    endFirst?.();
    endThird?.();
    await progress.flush();
    expect([made, requests]).toEqual([2, [[aStep('processing', 1)]]]);
  });

  it('is batched, one request at a time', async () => {
    const { progress, requests } = progressWith(async () => FINE);
    for (let nth = 0; nth < 250; nth++) progress.note(aStep('processing', nth));
    await progress.flush();
    expect(requests.map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('is flushed in 250 ms at most if the gateway hangs, and then not waited for during 30 s', async () => {
    const { clock, progress, requests } = progressWith(never);
    const startedAt = clock.now();
    void progress.note(aStep('processing', 0));
    await clock.passUntilSettled(progress.flush());
    expect(clock.now() - startedAt).toBe(250);
    for (let nth = 0; nth < 5_000; nth++) {
      void progress.note(aStep('processing', nth));
      await progress.flush();
    }
    expect([clock.now() - startedAt, requests.length]).toEqual([250, 1]);
    await clock.pass(30_000);
    await clock.passUntilSettled(progress.flush());
    expect(clock.now() - startedAt).toBe(30_500);
  });

  it('is waited for at most a tenth of the time if the gateway is slow', async () => {
    const { clock, progress, requests } = progressWith(async () => {
      await clock.sleep(150);
      return FINE;
    });
    const startedAt = clock.now();
    for (let nth = 0; nth < 100; nth++) {
      void progress.note(aStep('processing', nth));
      await clock.passUntilSettled(progress.flush());
      await clock.pass(100);
    }
    // 100 times 100 ms of work; waiting may take at most a tenth of that.
    const waitedMs = clock.now() - startedAt - 10_000;
    expect([waitedMs > 100, waitedMs <= 1_200, requests.length > 10]).toEqual([true, true, true]);
  });

  it('that cannot be sent is logged once, without an error', async () => {
    const { progress, problems } = progressWith(async () => ({ problem: 'refused' }));
    for (let nth = 0; nth < 3; nth++) {
      void progress.note(aStep('processing', nth));
      await progress.flush();
    }
    expect(problems).toEqual(['refused']);
  });

  it('is signed, and its answer names canceled tasks', async () => {
    const received: { body: string; signature: unknown }[] = [];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      received.push({ body, signature: request.headers['x-asya-signature'] });
      response.end('{"canceled":["t-1", 7]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const clock = virtualClock();
    const http = httpClient();
    const post = signedPost({ url, secret: 's' }, http, clock.now);
    const progress = gatewayProgress({ clock, post, onProblem: () => {} });
    await progress.note(aStep('processing', 0));
    expect([progress.isCanceled('t-1'), progress.isCanceled('t-2')]).toEqual([true, false]);
    const [{ body, signature } = { body: '', signature: '' }] = received;
    const [, seconds, mac] = /^t=(\d+),v1=(\w+)$/.exec(String(signature)) ?? [];
    expect(createHmac('sha256', 's').update(`${seconds}.${body}`).digest('hex')).toBe(mac);
    http.close();
    server.closeAllConnections();
    server.close();
  });
});

describe('canceled tasks', () => {
  withoutRequestTimeouts();

  it('are asked for about every two seconds during a long call, and not after it', async () => {
    let canceled: readonly string[] = [];
    const { clock, progress, requests } = progressWith(async () => ({ canceled: new Set(canceled) }));
    const ends = [1, 2, 3].map(() => progress.follow(() => undefined));
    await clock.pass(30_000);
    expect([requests.length > 10, requests.length <= 15]).toEqual([true, true]);
    canceled = ['t-7'];
    await clock.pass(4_000);
    expect(progress.isCanceled('t-7')).toBe(true);
    for (const end of ends) end();
    const asked = requests.length;
    await clock.pass(60_000);
    expect(requests).toHaveLength(asked);
  });

  it('are asked for during a long call every thirty seconds if the gateway fails', async () => {
    const { clock, progress, requests, problems } = progressWith(async () => ({ problem: 'refused' }));
    progress.follow(() => undefined);
    await clock.pass(300_000);
    expect([requests.length >= 9, requests.length <= 11, problems]).toEqual([true, true, []]);
  });

  it('are asked for in the background, two seconds after the last answer', async () => {
    const { clock, progress, requests } = progressWith(async () => ({ canceled: new Set(['t-9']) }));
    progress.refresh();
    expect(requests).toEqual([]);
    await clock.pass(2_000);
    for (let nth = 0; nth < 3; nth++) progress.refresh();
    expect(requests).toEqual([[]]);
    expect(progress.isCanceled('t-9')).toBe(false);
    await clock.pass(1);
    expect(progress.isCanceled('t-9')).toBe(true);
    await clock.pass(1_500);
    await progress.note(aStep('processing', 0));
    await clock.pass(1_500);
    progress.refresh();
    expect(requests).toHaveLength(2);
    await clock.pass(501);
    progress.refresh();
    expect(requests).toHaveLength(3);
  });

  it('are never waited for by a flush', async () => {
    const { clock, progress, requests } = progressWith(never);
    await clock.pass(2_000);
    progress.refresh();
    await progress.flush();
    expect([requests.length, clock.sleepers]).toEqual([1, 0]);
  });

  it('are asked for less often if the gateway does not answer, without a line in the log', async () => {
    const { clock, progress, requests, problems } = progressWith(async () => ({ problem: 'refused' }));
    for (let second = 0; second < 60; second++) {
      progress.refresh();
      await clock.pass(1_000);
    }
    expect([requests.length, problems]).toEqual([2, []]);
  });

  it('are remembered, the last thousand of them', async () => {
    let nth = 0;
    const { progress } = progressWith(async () => {
      const ids = Array.from({ length: 600 }, () => `t-${nth++}`);
      return { canceled: new Set(['first', ...ids]) };
    });
    for (let request = 0; request < 2; request++) await progress.note(aStep('processing', 0));
    expect(['t-0', 't-600', 't-1199', 'first'].map(progress.isCanceled)).toEqual([false, true, true, true]);
  });
});
