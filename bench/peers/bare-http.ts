import { Pool } from 'undici';

/** undici with its fastest settings: a pool with one kept-alive connection, the body as text, no parsing. */
export function bareHttp(url: string): { post(body: string): Promise<string>; close(): Promise<void> } {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: 1, pipelining: 1 });
  return {
    post: async (body) => {
      const response = await pool.request({
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return response.body.text();
    },
    close: () => pool.close(),
  };
}
