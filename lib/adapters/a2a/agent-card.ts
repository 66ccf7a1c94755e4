import type { AgentCard, AgentSkill } from '@a2a-js/sdk';
import type { Flow } from '../../core/task/flow.ts';
import { V0_3, V1_0 } from './protocol-version.ts';

export interface AgentAbout {
  readonly name: string;
  readonly description: string;
  readonly version: string;
}

/** How a caller proves who it is: an API key and a token are both sent as a bearer. */
const BEARER: AgentCard['securitySchemes'] = {
  bearer: {
    scheme: {
      $case: 'httpAuthSecurityScheme',
      value: { scheme: 'Bearer', bearerFormat: '', description: 'An API key of the gateway, or a JWT.' },
    },
  },
};

const MODES = ['application/json', 'text/plain'];

/** Flows with `a2a` as the skills of one agent that answers at that address. */
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

/** What `a2a` of a flow may say of its skill; `text` is read where a message is. */
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
