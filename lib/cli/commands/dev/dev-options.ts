import type { Manifest } from '../../../config/manifest/manifest.ts';
import { defined } from '../../../core/text/defined.ts';
import { choiceOption, wholeNumberOption } from '../../options/read-option.ts';
import { inspectedActors } from './inspect-option.ts';

/** The options of `asya dev`, as typed. */
export interface DevOptions {
  readonly fresh?: boolean;
  readonly transport: string;
  readonly sqsPort?: string;
  readonly dynamodbPort?: string;
  readonly gatewayPort?: string;
  readonly replicas: string;
  readonly inspect?: readonly string[];
  readonly logLevel: string;
  readonly plain?: boolean;
}

const MAX_PORT = 65_535;
const MAX_REPLICAS = 1_000;

/** The settings of the local mesh. Throws a usage error for an invalid option. */
export function settingsFrom(options: DevOptions, manifest: Manifest) {
  const transport = choiceOption('--transport', options.transport, ['sqs', 'pubsub']);
  return {
    transport,
    inspect: inspectedActors(options.inspect ?? [], manifest, transport),
    ...defined({
      sqsPort: portOption('--sqs-port', options.sqsPort),
      dynamodbPort: portOption('--dynamodb-port', options.dynamodbPort),
    }),
    gateway: defined({ port: portOption('--gateway-port', options.gatewayPort) }),
    replicas: wholeNumberOption('--replicas', options.replicas, MAX_REPLICAS),
    logLevel: choiceOption('--log-level', options.logLevel, ['debug', 'info', 'warn', 'error']),
  };
}

function portOption(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumberOption(name, text, MAX_PORT);
}
