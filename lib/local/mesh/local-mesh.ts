import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { GatewayAccess } from '../../assembly/mesh/running-mesh.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import type { PlanSettings } from '../../config/plan/function-plan.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Inspection } from '../debugger/inspection.ts';
import type { BatchReport } from '../functions/event-source.ts';
import type { LocalGatewayOptions } from './local-gateway.ts';
import type { InspectedActor } from './mesh-inspections.ts';

/** A mesh that runs on this machine. */
export interface LocalMesh {
  /** Settings for other processes that access the mesh, such as `asya failures` and `asya send`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Short description of its transport. */
  readonly description: string;
  /** URL and key of the gateway. */
  readonly gateway?: GatewayAccess;
  /** The actors that can be debugged. */
  readonly inspections: readonly Inspection[];
  manifest(): Manifest;
  /** Applies a new manifest. Returns a message for each change. */
  apply(manifest: Manifest): Promise<readonly string[]>;
  /**
   * Reads `.env` again. Actors whose secrets have changed use new instances from now on; actors that waited for a secret
   * start. Returns a message for each change.
   */
  applySecrets(): Promise<readonly string[]>;
  /**
   * Looks for the Python of each actor again, and restarts the actors whose Python is another one. Returns a message for
   * each change.
   */
  applyPython(): Promise<readonly string[]>;
  /** Files that select the Python of the actors. They may not exist. */
  pythonFiles(): readonly string[];
  /** Which Python runs the handlers, one text for each. Empty without handlers in Python. */
  pythons(): readonly string[];
  /** Uses new instances of this actor from now on. */
  renew(actor: string): void;
  /** Differs after the actor was started again, e.g. by `apply`. */
  generation(actor: string): number;
  /**
   * The depths of the queues, in a fixed order: the actors along the flows, the other actors, the crew. Undefined if a
   * queue's depths are not known. Only an actor's retries are delayed: the gateway's timers do not count.
   */
  depths(): Promise<ReadonlyMap<string, QueueDepths | undefined>>;
  pids(): readonly number[];
  /** Finishes deliveries in progress within the grace period, and stops all processes and servers. */
  close(graceMs: number): Promise<void>;
}

export interface MeshOptions {
  readonly manifest: Manifest;
  /** The folder that the files in the manifest are relative to. */
  readonly folder: string;
  /**
   * Where the mesh is started: its `.venv` is used if the folders of the code have none.
   * @default the mesh's folder
   */
  readonly startFolder?: string;
  /**
   * Which ended envelopes x-sink archives, and how long it collects them.
   * @default all of them, at once
   */
  readonly archiving?: Pick<PlanSettings, 'archives' | 'archiveWindowSeconds'>;
  /** @default 'sqs' */
  readonly transport?: 'sqs' | 'pubsub';
  /**
   * Folder for the data.
   * @default data is in memory
   */
  readonly dataDir?: string;
  readonly sqsPort?: number;
  readonly dynamodbPort?: number;
  /**
   * Starts a gateway: on this port, on its usual port, or on a free port.
   * @default no gateway
   */
  readonly gateway?: Pick<LocalGatewayOptions, 'port' | 'usualPort' | 'key'>;
  /** Maximum number of instances of each function. */
  readonly replicas: number;
  /**
   * Actors whose handlers can be debugged. Only on SQS.
   * @default none
   */
  readonly inspect?: readonly InspectedActor[];
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Variables in which secrets are looked up that are not in `.env` of the mesh's folder.
   * @default the environment of this process
   */
  readonly shell?: Environment;
  readonly onEvent: (event: MeshEvent) => void;
}

export type MeshEvent =
  | {
      readonly event: 'line';
      readonly actor: string;
      readonly stream: 'stdout' | 'stderr';
      readonly line: string;
    }
  | { readonly event: 'batch'; readonly actor: string; readonly batch: BatchReport }
  /** Why an actor was not started. `undefined`: it was started. */
  | { readonly event: 'problem'; readonly actor: string; readonly problem: string | undefined }
  /** The first debugger attached to the actor's handler, or the last one left. */
  | { readonly event: 'debugger'; readonly actor: string; readonly isAttached: boolean }
  /** A problem that the user should know about, with what to do. */
  | { readonly event: 'warning'; readonly actor: string; readonly text: string };
