import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { type ActorAccess, bucketIn, bucketVariable } from '../../lib/config/manifest/access.ts';
import type { Actor } from './actor.ts';
import { grantKey } from './grant-key.ts';

export interface MeshBucketsProps {
  /**
   * KMS key for the buckets.
   * @default S3 encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * What happens to the buckets when the mesh is deleted.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

/** The buckets that the actors of a mesh declare. Each is created when the first actor names it. */
export class MeshBuckets extends Construct {
  private readonly props: MeshBucketsProps;
  private readonly buckets = new Map<string, Bucket>();

  constructor(scope: Construct, id: string, props: MeshBucketsProps) {
    super(scope, id);
    this.props = props;
  }

  /** By the name that actors use. CloudFormation chooses the names of the buckets. */
  all(): ReadonlyMap<string, Bucket> {
    return this.buckets;
  }

  /** Gives the actor's handler the declared permissions, and the names of its buckets as variables. */
  grant(actor: Actor, access: ActorAccess | undefined): void {
    if (access === undefined) return;
    const { permissions, buckets } = access;
    for (const name of buckets)
      actor.function.addEnvironment(bucketVariable(name), this.bucket(name).bucketName);
    for (const { actions, resources } of permissions)
      actor.addToHandlerPolicy(
        new PolicyStatement({
          actions: actions.map((action) => (action === '*:*' ? '*' : action)),
          resources: resources.map((resource) => this.arnOf(resource)),
        }),
      );
    const usesBucket = permissions.some(({ resources }) => resources.some((one) => bucketIn(one)));
    if (usesBucket) grantKey(actor, this.props.encryptionKey);
  }

  private arnOf(resource: string): string {
    const named = bucketIn(resource);
    return named === undefined ? resource : `${this.bucket(named.bucket).bucketArn}${named.objects}`;
  }

  private bucket(name: string): Bucket {
    const known = this.buckets.get(name);
    if (known !== undefined) return known;
    const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN } = this.props;
    const bucket = new Bucket(this, name, {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      ...(encryptionKey === undefined
        ? { encryption: BucketEncryption.S3_MANAGED }
        : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
      lifecycleRules: [{ id: 'cleanup', abortIncompleteMultipartUploadAfter: Duration.days(1) }],
      removalPolicy,
    });
    this.buckets.set(name, bucket);
    return bucket;
  }
}
