import { IN_FUNCTION, PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';

const LAMBDA = 'public.ecr.aws/lambda/nodejs:24';

/** For a Python handler: Lambda's own image for the sidecar, and Python beside it. */
export function pythonDockerfile(requirements: 'none' | 'alone' | 'with-others'): string {
  const { app } = IN_FUNCTION;
  // Alone it comes before the handler itself, so that a change of that does not install everything again.
  const installed = requirements === 'alone' ? `${app}/requirements.txt` : app;
  return lines(
    `FROM ${LAMBDA}`,
    `RUN dnf install -y ${PYTHON_OF_IMAGE} ${PYTHON_OF_IMAGE}-pip && dnf clean all`,
    ...(requirements === 'none'
      ? []
      : [
          `COPY ${installed} ./${installed}`,
          // Packages beside it are found from where pip is run.
          `RUN cd ${app} && ${PYTHON_OF_IMAGE} -m pip install --no-cache-dir -r requirements.txt`,
        ]),
    'COPY . ./',
    'CMD ["index.handler"]',
  );
}

/**
 * For a user's own image: the sidecar becomes its entry point, with Lambda's Node under it. The image's working folder
 * stays, and handlers are found from there.
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
