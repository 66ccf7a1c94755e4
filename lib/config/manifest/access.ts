/** What a handler may do on AWS, besides what the mesh does for it. */
export interface ActorAccess {
  /** The rights of the handler's own role. Empty: the handler gets no credentials. */
  readonly permissions: readonly Permission[];
  /** Buckets of the mesh that the actor uses. Actors that name the same bucket share it. */
  readonly buckets: readonly string[];
  /** Where AWS is while the mesh runs on a laptop: the developer's account, or the embedded engines. */
  readonly localAws: LocalAws;
}

export interface Permission {
  /** IAM actions such as `s3:PutObject`; `*` and `?` are wildcards. */
  readonly actions: readonly string[];
  /** ARNs, `*`, or a bucket of the mesh as `${bucket:NAME}` with an optional `/KEY`. */
  readonly resources: readonly string[];
}

export const LOCAL_AWS = ['profile', 'embedded'] as const;
export type LocalAws = (typeof LOCAL_AWS)[number];

/** The variable with the name of a bucket: `BUCKET_PICTURES` for `pictures`. */
export function bucketVariable(bucket: string): string {
  return `BUCKET_${bucket.toUpperCase().replaceAll('-', '_')}`;
}

const BUCKET_REFERENCE = /^\$\{bucket:([^}]*)\}(\/.*)?$/;

/** The bucket of the mesh that a resource names, and the part after it. Undefined: the resource is not a bucket of the mesh. */
export function bucketIn(
  resource: string,
): { readonly bucket: string; readonly objects: string } | undefined {
  const [, bucket, objects = ''] = BUCKET_REFERENCE.exec(resource) ?? [];
  return bucket === undefined ? undefined : { bucket, objects };
}

/** How a resource names a bucket of the mesh, and its objects such as `/*`. */
export function bucketReference(bucket: string, objects = ''): string {
  return `\${bucket:${bucket}}${objects}`;
}

/** Whether the actor's handler gets a role of its own. */
export function hasPermissions(access: ActorAccess | undefined): boolean {
  return access !== undefined && access.permissions.length > 0;
}
