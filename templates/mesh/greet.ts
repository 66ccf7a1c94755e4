import type { Handler } from 'asya-serverless/handler';

class NoName extends Error {}

/** Receives the payload and a context. The returned value is the payload of the next actor. */
export const greet: Handler<{ name?: string }, { greeting: string }> = ({ name }, context) => {
  if (!name) throw new NoName('the payload has no "name"');
  context.progress({ percent: 50, message: `greeting ${name}` });
  return { greeting: `Hello, ${name}` };
};
