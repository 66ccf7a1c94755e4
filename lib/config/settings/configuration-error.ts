/** A mistake in the configuration that only shows while a host is assembled. Its message is for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
