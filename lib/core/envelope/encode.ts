import { textFromMembers } from '../text/json-text.ts';
import type { Envelope } from './envelope.ts';

/**
 * Writes an envelope as JSON text. The payload, the headers and unknown keys are copied as text, without parsing and
 * serializing them.
 */
export function encode(envelope: Envelope): string {
  const { id, parent_id, route, headers, payload, status, extra } = envelope;
  let text = `{"id":${JSON.stringify(id)}`;
  if (parent_id !== undefined) text += `,"parent_id":${JSON.stringify(parent_id)}`;
  text += `,"route":${JSON.stringify(route)},"headers":${textFromMembers(headers)},"payload":${payload}`;
  if (status !== undefined) text += `,"status":${JSON.stringify(status)}`;
  for (const [key, value] of extra) text += `,${JSON.stringify(key)}:${value}`;
  return `${text}}`;
}
