export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables that count as set: those of the table that are not empty, and everything else as it is. A deployment
 * tool writes an empty variable when it has no value, so an empty one means "not set", unless its setting gives an
 * empty value a meaning (`emptyMeans`). Service links of Kubernetes are left out.
 */
export function setVariables(
  settings: Readonly<Record<string, { readonly emptyMeans?: string }>>,
  env: Environment,
): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name, text]) => {
      if (text === undefined || isServiceLink(name, text)) return false;
      const isKnown = Object.hasOwn(settings, name);
      return text !== '' || !isKnown || settings[name]?.emptyMeans !== undefined;
    }),
  );
}

/**
 * Kubernetes injects these into every pod for each service of the namespace: a service called `asya-gateway` sets
 * `ASYA_GATEWAY_SERVICE_HOST`, and `ASYA_GATEWAY_PORT` to `tcp://10.0.0.7:8080`.
 */
function isServiceLink(name: string, text: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(text))
  );
}
