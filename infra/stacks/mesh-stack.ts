import { CfnOutput, CfnResource, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import type { MeshCode } from '../code/mesh-code.ts';
import { ActorMesh } from '../constructs/actor-mesh.ts';
import { ACKNOWLEDGED_OF_GATEWAY, acknowledgedIn } from './acknowledged.ts';
import type { DeployEnvironment } from './read-environment.ts';

export interface MeshStackProps {
  readonly environment: DeployEnvironment;
  /** The mesh's name: the last part of its folder's path. */
  readonly meshName: string;
  readonly manifest: Manifest;
  /** The folder that handlers are found from. */
  readonly folder: string;
  /**
   * The key for queues, archive and table.
   * @default the services encrypt with keys of their own
   */
  readonly encryptionKey?: IKey;
  /**
   * The version of the secret with the gateway's keys; see `GatewayOptions`.
   * @default the newest at the time that the gateway is changed next
   */
  readonly keysVersion?: string;
  /**
   * Where functions get their code.
   * @default it is bundled from this package and the mesh's folder
   */
  readonly code?: MeshCode;
}

/** CloudFormation's own limit. */
const MAX_RESOURCES = 500;

/** One mesh in one environment. */
export class MeshStack extends Stack {
  readonly mesh: ActorMesh;

  constructor(scope: Construct, id: string, props: MeshStackProps) {
    const { environment, meshName, manifest, folder, encryptionKey, code, keysVersion } = props;
    const namespace = namespaceOf(environment.name, meshName);
    super(scope, id, {
      ...stackProps(environment),
      description: `asya: the mesh ${meshName} in ${environment.name}`,
    });
    const { removalPolicy, logRetention, alarmEmail, concurrency } = environment;
    this.mesh = new ActorMesh(this, 'Mesh', {
      namespace,
      manifest,
      folder,
      removalPolicy,
      logRetention,
      ...defined({ alarmEmail, concurrency, encryptionKey, code }),
    });
    const { crew, alarmTopic, dashboard } = this.mesh;
    if (environment.gateway !== undefined) {
      const gateway = this.mesh.addGateway({
        ...environment.gateway,
        ...defined({ keysVersion }),
      });
      this.tell('GatewayUrl', 'Where flows are called', gateway.url);
      this.tell('GatewayKeys', 'The secret with the keys of those who may call', gateway.keys.secretName);
      Validations.of(this).acknowledge(...ACKNOWLEDGED_OF_GATEWAY);
    } else if (keysVersion !== undefined) {
      throw new Error(
        `asya: keys of version ${describeValue(keysVersion)} are given, and "${environment.name}" has no gateway to take them; leave them out, or give the environment "gateway": true`,
      );
    }
    // By the names of the variables that `asya failures` and its like read.
    this.tell('AsyaNamespace', 'ASYA_NAMESPACE', namespace);
    this.tell('AsyaArchiveBucket', 'ASYA_ARCHIVE_BUCKET', crew.archive.bucketName);
    this.tell('AsyaFailureTable', 'ASYA_FAILURE_TABLE', crew.failures.tableName);
    this.tell('AsyaAwsRegion', 'ASYA_AWS_REGION', this.region);
    this.tell('AlarmTopic', 'The topic of all alarms', alarmTopic.topicArn);
    this.tell('Dashboard', "The dashboard's name", dashboard.dashboard.dashboardName);
    Validations.of(this).acknowledge(...acknowledgedIn(crew));
    this.refuseTooMany(manifest.actors.length);
  }

  /** Otherwise it would be told by the CDK, in a list of types that nobody has written. */
  private refuseTooMany(actors: number): void {
    const resources = this.node.findAll().filter((one) => CfnResource.isCfnResource(one)).length;
    if (resources > MAX_RESOURCES)
      throw new Error(
        `asya: ${actors} actors make a stack of ${resources} resources, and CloudFormation takes ${MAX_RESOURCES}; make two meshes of them, each with its own folder`,
      );
  }

  private tell(id: string, description: string, value: string): void {
    new CfnOutput(this, id, { description, value });
  }
}

/** `dev-hello`: the environment comes first, so that all of it is found together. */
export function namespaceOf(environment: string, meshName: string): string {
  return `${environment}-${meshName}`;
}

function stackProps({ account, region }: DeployEnvironment): StackProps {
  return {
    env: defined({ account, region }),
  };
}
