/** One entry of `flows.yaml`: a route with a name, which the gateway offers to callers. */
export interface Flow {
  readonly name: string;
  readonly entrypoint: string;
  readonly routeNext: readonly string[];
  readonly description?: string;
  readonly timeoutSeconds?: number;
  readonly mcp?: { readonly inputSchema: Readonly<Record<string, unknown>> };
  readonly a2a?: Readonly<Record<string, unknown>>;
}
