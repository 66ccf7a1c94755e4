import { afterAll, describe, expect, test } from 'vitest';
import { endProcesses } from '../../sidecar/sidecar-process.ts';
import { startHost } from './a-cloud-run-stage.ts';

/** Nobody is let in by leaving something out. */

afterAll(endProcesses);

async function refusalOf(variables: Readonly<Record<string, string>>): Promise<string> {
  const host = startHost({ ASYA_ACTOR_NAME: 'score', ASYA_PUBSUB_PROJECT_ID: 'shop', ...variables });
  expect(await host.untilExit(30_000)).toEqual({ code: 2, signal: null });
  return host.errorOutput();
}

const TRUSTING = {
  ASYA_PUSH_AUDIENCE: 'https://score.example.com',
  ASYA_PUSH_SERVICE_ACCOUNT: 'push@shop.iam.gserviceaccount.com',
};

describe.concurrent('a host that is configured wrongly', { timeout: 60_000 }, () => {
  test('does not start where nobody says whose pushes it takes', async () => {
    const words = await refusalOf({});
    expect(words).toContain('2 mistakes');
    expect(words).toContain('ASYA_PUSH_AUDIENCE: is not set');
    expect(words).toContain('ASYA_PUSH_SERVICE_ACCOUNT: is not set');
    expect(words).toContain('ASYA_PUSH_AUTH=none');
  });

  test('tells of everything else at once', async () => {
    const words = await refusalOf({
      ...TRUSTING,
      ASYA_TRANSPORT: 'sqs',
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '59s',
      ASYA_PUSH_ACK_DEADLINE: '60',
      PORT: 'http',
    });
    expect(words).toContain('3 mistakes');
    expect(words).toContain('ASYA_TRANSPORT: is "sqs", and what pushes is Pub/Sub');
    expect(words).toContain('ASYA_RESILIENCY_ACTOR_TIMEOUT: is 59s, and a push is waited for only 60 s');
    expect(words).toContain('it takes 58s at most');
    expect(words).toContain('PORT: is "http"; it takes a whole number from 0 to 65535');
  });

  test('tells mistakes of the actor as every host does', async () => {
    expect(await refusalOf({ ...TRUSTING, ASYA_PUSH_AUDIENC: 'x' })).toContain(
      'ASYA_PUSH_AUDIENC: is no setting; did you mean "ASYA_PUSH_AUDIENCE"?',
    );
  });
});
