import type { Context, Handler } from 'asya-serverless/handler';

interface Person {
  readonly name?: string;
}

interface Greeting {
  readonly greeting: string;
}

class NoName extends Error {}

/** Receives the payload, and a context if it wants one. The returned value is the payload of the next actor. */
export const greet: Handler<Person, Greeting> = ({ name }, context: Context) => {
  if (!name) throw new NoName('the payload has no "name"');
  context.progress({ percent: 50, message: `greeting ${name}` });
  return { greeting: `Hello, ${name}` };
};
