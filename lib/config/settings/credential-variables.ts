/**
 * Variables that contain secrets or passwords of the mesh itself: those of the settings with `isSecret` or `hasPassword`.
 * A list of its own, because a function starts its handler before it loads the settings.
 */
export const CREDENTIAL_VARIABLES: readonly string[] = [
  'ASYA_RUNTIME_SECRETS',
  'ASYA_RUNTIME_ENV',
  'ASYA_RABBITMQ_URL',
  'ASYA_GATEWAY_SECRET',
  'ASYA_GATEWAY_KEYS',
];
