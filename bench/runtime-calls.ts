import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpRuntime } from '../lib/adapters/runtime-http/http-runtime.ts';
import { socketRuntime } from '../lib/adapters/runtime-socket/socket-runtime.ts';
import { startChild, stopChild } from './child.ts';
import { runContest } from './measure.ts';
import { envelopeOf, PAYLOADS } from './payloads.ts';
import { bareFrames, frameOf } from './peers/bare-frames.ts';
import { bareHttp } from './peers/bare-http.ts';
import type { Row } from './report.ts';
import { lineTo, route } from './subjects/router.ts';

const COMMON = { protocol: 'payload', fanOut: 'array', maxAnswerBytes: 6 * 1024 * 1024 } as const;

/** A whole delivery with a real runtime, compared with only exchanging the same bytes with the same process. */
export async function benchSocket(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-bench-'));
  const path = join(folder, 'echo.sock');
  const { child } = await startChild('peers/echo-server.ts', 'frames', path);
  const rows: Row[] = [];
  const cases = [
    { kind: 'text', bytes: 1024, units: 1500, goal: 1.5 },
    { kind: 'text', bytes: 65_536, units: 200, goal: 1.7 },
    { kind: 'records', bytes: 1024, units: 1500 },
    { kind: 'records', bytes: 65_536, units: 200 },
  ] as const;
  for (const { kind, bytes, units, ...rest } of cases) {
    const payload = PAYLOADS[kind](bytes);
    const runtime = socketRuntime({ ...COMMON, path });
    const bare = await bareFrames(path);
    const frame = frameOf(payload);
    const line = lineTo(runtime);
    const body = envelopeOf(payload);
    const result = await runContest({
      name: `socket, ${bytes / 1024} KB of ${kind}`,
      units,
      rounds: 21,
      subject: () => route(body, units, line),
      peer: async () => {
        for (let index = 0; index < units; index++) await bare.exchange(frame);
      },
    });
    rows.push({
      group: 'router / bare framed echo',
      ...result,
      ...('goal' in rest ? { atMost: rest.goal } : {}),
    });
    bare.close();
    await runtime.close();
  }
  await stopChild(child);
  rmSync(folder, { recursive: true });
  return rows;
}

export async function benchHttp(): Promise<readonly Row[]> {
  const { child, firstMessage } = await startChild('peers/echo-server.ts', 'http', '0');
  const url = `http://127.0.0.1:${firstMessage}/invoke`;
  const payload = PAYLOADS.text(1024);
  const runtime = await httpRuntime({ ...COMMON, url, connections: 1 });
  const bare = bareHttp(url);
  const line = lineTo(runtime);
  const body = envelopeOf(payload);
  const units = 800;
  const result = await runContest({
    name: 'HTTP, 1 KB of text',
    units,
    rounds: 21,
    subject: () => route(body, units, line),
    peer: async () => {
      for (let index = 0; index < units; index++) await bare.post(payload);
    },
  });
  await runtime.close();
  await bare.close();
  await stopChild(child);
  return [{ group: 'router / bare undici', ...result, atMost: 1.3 }];
}
