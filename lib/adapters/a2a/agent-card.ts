import type { AgentCard, AgentSkill } from '@a2a-js/sdk';
import type { Flow } from '../../core/task/flow.ts';
import { V0_3, V1_0 } from './protocol-version.ts';

export interface AgentAbout {
  readonly name: string;
  readonly description: string;
  readonly version: string;
}

/** API keys and JWTs are both sent as a bearer token. */
const BEARER: AgentCard['securitySchemes'] = {
  bearer: {
    scheme: {
      $case: 'httpAuthSecurityScheme',
      value: { scheme: 'Bearer', bearerFormat: '', description: 'An API key of the gateway, or a JWT.' },
    },
  },
};

const MODES = ['application/json', 'text/plain'];

/** The card of an agent at `url` whose skills are the flows with an `a2a` entry. */
export function agentCard(about: AgentAbout, url: string, flows: readonly Flow[]): AgentCard {
  return {
    ...about,
    supportedInterfaces: [V1_0, V0_3].map((protocolVersion) => ({
      url,
      protocolBinding: 'JSONRPC',
      tenant: '',
      protocolVersion,
    })),
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true, extensions: [] },
    securitySchemes: BEARER,
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: MODES,
    defaultOutputModes: MODES,
    skills: flows.flatMap((flow) => toSkill(flow) ?? []),
    signatures: [],
  };
}

/** Reads `name`, `tags` and `examples` of the flow's `a2a` entry; `text` is read in message-payload.ts. */
function toSkill({ name, description, a2a }: Flow): AgentSkill | undefined {
  if (a2a === undefined) return undefined;
  const tags = textsIn(a2a['tags']);
  return {
    id: name,
    name: typeof a2a['name'] === 'string' ? a2a['name'] : name,
    description: description ?? '',
    tags: tags.length === 0 ? ['flow'] : tags,
    examples: textsIn(a2a['examples']),
    inputModes: [],
    outputModes: [],
    securityRequirements: [],
  };
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
