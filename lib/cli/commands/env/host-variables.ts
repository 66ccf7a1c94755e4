/** Variables that Lambda sets in the process of a function on Node. */
export const LAMBDA_VARIABLES: readonly string[] = [
  '_HANDLER',
  '_X_AMZN_TRACE_ID',
  'AWS_ACCESS_KEY_ID',
  'AWS_DEFAULT_REGION',
  'AWS_EXECUTION_ENV',
  'AWS_LAMBDA_FUNCTION_MEMORY_SIZE',
  'AWS_LAMBDA_FUNCTION_NAME',
  'AWS_LAMBDA_FUNCTION_VERSION',
  'AWS_LAMBDA_INITIALIZATION_TYPE',
  'AWS_LAMBDA_LOG_GROUP_NAME',
  'AWS_LAMBDA_LOG_STREAM_NAME',
  'AWS_LAMBDA_RUNTIME_API',
  'AWS_REGION',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_XRAY_CONTEXT_MISSING',
  'AWS_XRAY_DAEMON_ADDRESS',
  'LAMBDA_RUNTIME_DIR',
  'LAMBDA_TASK_ROOT',
  'LANG',
  'LD_LIBRARY_PATH',
  'NODE_PATH',
  'PATH',
  'TZ',
];

/** Variables that Cloud Run sets in the container of a service. */
export const CLOUD_RUN_VARIABLES: readonly string[] = ['K_CONFIGURATION', 'K_REVISION', 'K_SERVICE', 'PORT'];

/** Variables that hosts set in the sidecar's process after its start, so that no environment of a plan contains them. */
export const SET_AT_START: Readonly<Record<string, readonly string[]>> = { local: ['FUNCTION_PID'] };
