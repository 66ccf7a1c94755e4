import { IN_FUNCTION, PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';

const LAMBDA = 'public.ecr.aws/lambda/nodejs:24';

/** Dockerfile for a Python handler: Lambda's Node image for the sidecar, with Python installed. */
export function pythonDockerfile(requirements: 'none' | 'one-file' | 'with-local-files'): string {
  const { app, pythonRuntime } = IN_FUNCTION;
  const compile = `${PYTHON_OF_IMAGE} -m compileall -qq --invalidation-mode unchecked-hash`;
  // If pip needs only this file, it is copied before the handler, so that a changed handler does not reinstall packages.
  const installed = requirements === 'one-file' ? `${app}/requirements.txt` : app;
  return lines(
    `FROM ${LAMBDA}`,
    `RUN dnf install -y ${PYTHON_OF_IMAGE} ${PYTHON_OF_IMAGE}-pip && dnf clean all`,
    ...(requirements === 'none'
      ? []
      : [
          `COPY ${installed} ./${installed}`,
          // pip resolves local packages relative to its working directory.
          `RUN cd ${app} && ${PYTHON_OF_IMAGE} -m pip install --no-cache-dir -r requirements.txt`,
        ]),
    'COPY . ./',
    // Bytecode is trusted without a look at the source, whose time may change on the way into the image. A file of the
    // handler that cannot be compiled, such as a template, is left as it is.
    `RUN ${compile} ${pythonRuntime} && { ${compile} ${app} || true; }`,
    'CMD ["index.handler"]',
  );
}

/**
 * Dockerfile for a user's own image: adds Lambda's Node runtime and makes the sidecar the entry point. The image's working
 * directory stays, and handlers are resolved from there.
 */
export function imageDockerfile(image: string): string {
  const { imageFolder } = IN_FUNCTION;
  return lines(
    `FROM ${LAMBDA} AS lambda`,
    `FROM ${image}`,
    'COPY --from=lambda /var/lang /var/lang',
    'COPY --from=lambda /var/runtime /var/runtime',
    'COPY --from=lambda /lambda-entrypoint.sh /lambda-entrypoint.sh',
    `COPY . ${imageFolder}/`,
    `ENV LAMBDA_TASK_ROOT=${imageFolder} LAMBDA_RUNTIME_DIR=/var/runtime`,
    'ENTRYPOINT ["/lambda-entrypoint.sh"]',
    'CMD ["index.handler"]',
  );
}

function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
