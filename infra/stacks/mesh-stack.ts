import { CfnOutput, CfnResource, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { bucketVariable } from '../../lib/config/manifest/access.ts';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { describeValue } from '../../lib/core/text/describe-value.ts';
import type { MeshCode } from '../code/mesh-code.ts';
import { ActorMesh } from '../constructs/actor-mesh.ts';
import { acknowledgedForBuckets, acknowledgedIn, GATEWAY_ACKNOWLEDGED } from './acknowledged.ts';
import type { DeployEnvironment } from './read-environment.ts';

export interface MeshStackProps {
  /** The environment to deploy to, from `cdk.json`. Its `gateway` decides whether the mesh has one. */
  readonly environment: DeployEnvironment;
  /** Name of the mesh, usually that of its folder. Must be a DNS label. The namespace is `{environment}-{meshName}`. */
  readonly meshName: string;
  /** Actors and flows, as read from the mesh's folder. */
  readonly manifest: Manifest;
  /** The folder that handlers are resolved from. */
  readonly folder: string;
  /**
   * KMS key for the queues, the archive, the failure table and the gateway's secrets.
   * @default each service encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * `VersionId` of the secret with the gateway's keys; see `GatewayOptions`. An error without a gateway.
   * @default the newest version at the time when CloudFormation next updates the gateway
   */
  readonly keysVersion?: string;
  /**
   * Provides the code of the functions.
   * @default code is bundled from this package and from `folder`
   */
  readonly code?: MeshCode;
}

/** CloudFormation's limit per stack. */
const MAX_RESOURCES = 500;

/** A stack with one mesh in one environment. */
export class MeshStack extends Stack {
  readonly mesh: ActorMesh;

  constructor(scope: Construct, id: string, props: MeshStackProps) {
    const { environment, meshName, manifest, folder, encryptionKey, code, keysVersion } = props;
    const namespace = namespaceOf(environment.name, meshName);
    super(scope, id, {
      ...stackProps(environment),
      description: `asya: mesh ${meshName} in environment ${environment.name}`,
    });
    const { removalPolicy, logRetention, alarmEmail, concurrency, crewConcurrency, sqsClient } = environment;
    const { archive, archiveWindow } = environment;
    this.mesh = new ActorMesh(this, 'Mesh', {
      namespace,
      manifest,
      folder,
      removalPolicy,
      logRetention,
      ...defined({ alarmEmail, concurrency, crewConcurrency, sqsClient, archive, archiveWindow }),
      ...defined({ encryptionKey, code }),
    });
    const { crew, alarmTopic, dashboard } = this.mesh;
    if (environment.gateway !== undefined) {
      const gateway = this.mesh.addGateway({
        ...environment.gateway,
        ...defined({ keysVersion }),
      });
      this.output('GatewayUrl', 'URL of the gateway', gateway.url);
      this.output('GatewayKeys', 'Name of the secret with the keys of callers', gateway.keys.secretName);
      Validations.of(this).acknowledge(...GATEWAY_ACKNOWLEDGED);
    } else if (keysVersion !== undefined) {
      throw new Error(
        `asya: keysVersion is ${describeValue(keysVersion)}, but environment "${environment.name}" has no gateway; remove it, or set "gateway": true in the environment`,
      );
    }
    // The descriptions are the names of the variables that the operator commands read.
    this.output('AsyaNamespace', 'ASYA_NAMESPACE', namespace);
    this.output('AsyaArchiveBucket', 'ASYA_ARCHIVE_BUCKET', crew.archive.bucketName);
    this.output('AsyaFailureTable', 'ASYA_FAILURE_TABLE', crew.failures.tableName);
    this.output('AsyaAwsRegion', 'ASYA_AWS_REGION', this.region);
    this.output('AlarmTopic', 'ARN of the SNS topic of all alarms', alarmTopic.topicArn);
    this.output('Dashboard', 'Name of the CloudWatch dashboard', dashboard.dashboard.dashboardName);
    for (const [name, bucket] of this.mesh.buckets.all())
      this.output(bucketOutput(name), bucketVariable(name), bucket.bucketName);
    Validations.of(this).acknowledge(
      ...acknowledgedIn(crew),
      ...acknowledgedForBuckets(this.mesh.buckets, manifest),
    );
    this.checkResourceCount(manifest.actors.length);
  }

  /** The CDK checks this limit too, but its message lists resource types instead of a fix. */
  private checkResourceCount(actors: number): void {
    const resources = this.node.findAll().filter((one) => CfnResource.isCfnResource(one)).length;
    if (resources > MAX_RESOURCES)
      throw new Error(
        `asya: the stack of ${actors} actors has ${resources} resources, but CloudFormation allows ${MAX_RESOURCES}; split the mesh into two, each with its own folder`,
      );
  }

  private output(id: string, description: string, value: string): void {
    new CfnOutput(this, id, { description, value });
  }
}

/** `dev-hello`: the environment comes first, so that its resources are sorted together in the console. */
export function namespaceOf(environment: string, meshName: string): string {
  return `${environment}-${meshName}`;
}

/** `BucketMyPictures` for `my-pictures`: ids of outputs have letters and digits only. */
function bucketOutput(name: string): string {
  return `Bucket${name.replace(/(^|-)([a-z0-9])/g, (_, _dash, letter: string) => letter.toUpperCase())}`;
}

function stackProps({ account, region }: DeployEnvironment): StackProps {
  return {
    env: defined({ account, region }),
  };
}
