import { buildApp } from 'fauxqs';

/** The embedded SQS in a separate process. It counts requests by action and returns the counts on request. */
const counts = new Map<string, number>();
const app = buildApp({ logger: false });
app.addHook('onRequest', async (request) => {
  const action = String(request.headers['x-amz-target'] ?? '').split('.')[1] ?? 'other';
  counts.set(action, (counts.get(action) ?? 0) + 1);
});
process.on('message', () => {
  process.send?.(Object.fromEntries(counts));
  counts.clear();
});
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
