/**
 * Lambda's runtime for Node, as far as a handler notices: loads `_HANDLER`, then polls the Runtime API in a loop. Subjects
 * and peers run on it. CommonJS, like everything that is measured: Node must not strip types or load facades for it.
 */
const http = require('node:http');
const { join } = require('node:path');

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const ROOT = '/2018-06-01/runtime';

function request(method, path, body) {
  return new Promise((resolve, reject) => {
    const sent = http.request({ host, port, agent, method, path: `${ROOT}/${path}` }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const errorOf = (error) =>
  JSON.stringify({ errorType: error.name, errorMessage: error.message, stackTrace: [error.stack] });

async function main() {
  const [file, name] = process.env._HANDLER.split('.');
  let handler;
  try {
    handler = require(join(process.env.LAMBDA_TASK_ROOT, `${file}.js`))[name];
  } catch (error) {
    await request('POST', 'init/error', errorOf(error));
    process.exit(1);
  }
  for (;;) {
    const { headers, text } = await request('GET', 'invocation/next');
    const id = headers['lambda-runtime-aws-request-id'];
    const endsAt = Number(headers['lambda-runtime-deadline-ms']);
    const context = { awsRequestId: id, getRemainingTimeInMillis: () => endsAt - Date.now() };
    try {
      const answer = await handler(JSON.parse(text), context);
      await request('POST', `invocation/${id}/response`, JSON.stringify(answer));
    } catch (error) {
      await request('POST', `invocation/${id}/error`, errorOf(error));
    }
  }
}

main();
