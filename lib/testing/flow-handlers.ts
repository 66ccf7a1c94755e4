import { dirname, join } from 'node:path';
import { loadHandler } from '../../runtimes/node/handler/load-handler.ts';
import type { Script } from '../app/simulation/scripted-runtime.ts';
import type { ActorSpec } from '../config/manifest/manifest.ts';
import type { FanOut } from '../core/delivery/answer.ts';
import { findPython } from '../local/mesh/find-python.ts';
import { pythonFolders } from '../local/mesh/mesh-pythons.ts';
import { runtimeCommand } from '../local/mesh/runtime-command.ts';
import type { Runtime } from '../ports/runtime.ts';
import { callInProcess } from './call-in-process.ts';
import type { HandlerFunction } from './flow-options.ts';

type Answer = NonNullable<Script['answer']>;

export interface FlowHandlers {
  /** How the calls of an actor are answered. */
  answerOf(actor: ActorSpec): Answer;
  /** Ends the processes of Python handlers. */
  close(): Promise<void>;
}

export interface FlowHandlersOptions {
  readonly folder: string;
  readonly given: Readonly<Record<string, HandlerFunction>>;
  readonly fanOutOf: (actor: string) => FanOut;
  readonly realTimeoutMs: number;
}

/** Handlers are loaded when they are called first, so an actor that no envelope reaches needs none. */
export function flowHandlers({ folder, given, fanOutOf, realTimeoutMs }: FlowHandlersOptions): FlowHandlers {
  const started: Runtime[] = [];

  function inProcess(actor: string, load: () => Promise<HandlerFunction>): Answer {
    let handler: Promise<HandlerFunction> | undefined;
    return async (request) => {
      handler ??= load();
      const options = { actor, fanOut: fanOutOf(actor), realTimeoutMs };
      return (await callInProcess(await handler, request, options)).result;
    };
  }

  /** One process for all calls of the run, as in the mesh. */
  function inPython(spec: ActorSpec): Answer {
    let runtime: Promise<Runtime> | undefined;
    return async (request) => {
      runtime ??= startedPython(spec);
      const result = await (await runtime).call(request);
      if (result.kind !== 'timeout') return result;
      throw new Error(`the handler of "${spec.name}" did not end within ${realTimeoutMs} ms of real time`);
    };
  }

  async function startedPython(spec: ActorSpec): Promise<Runtime> {
    const python = findPython(pythonFolders(spec, folder, process.cwd()), process.env);
    const how = runtimeCommand(spec.runtime, python);
    if ('problem' in how) return refuse(spec.name, `cannot run: ${how.problem}`);
    const { command = '' } = how;
    // Most meshes have no Python handler, and the adapters take time to load.
    const { startPython } = await import('./python-runtime.ts');
    const cwd = join(folder, dirname(spec.file));
    const runtime = await startPython({ spec, cwd, command, fanOut: fanOutOf(spec.name), realTimeoutMs });
    started.push(runtime);
    return runtime;
  }

  function answerOf(spec: ActorSpec): Answer {
    const { name, runtime, file } = spec;
    const stub = given[name];
    if (stub !== undefined) return inProcess(name, async () => stub);
    switch (runtime.kind) {
      case 'node':
        return inProcess(name, () => loadNode(name, join(folder, dirname(file), runtime.handler)));
      case 'python':
        return inPython(spec);
      case 'image':
        return () => refuse(name, `runs in the image "${runtime.image}"`);
      case 'url':
        return () => refuse(name, `runs at ${runtime.url}`);
    }
  }

  return {
    answerOf,
    close: async () => {
      await Promise.all(started.splice(0).map((runtime) => runtime.close()));
    },
  };
}

async function loadNode(actor: string, handler: string): Promise<HandlerFunction> {
  try {
    return (await loadHandler(handler)) as HandlerFunction;
  } catch (error) {
    throw new Error(`the handler of "${actor}" cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

async function refuse(actor: string, problem: string): Promise<never> {
  throw new Error(
    `the handler of "${actor}" ${problem}; give a function for it: handlers: { ${quoted(actor)}: (payload) => ... }`,
  );
}

function quoted(name: string): string {
  return /^[a-z]\w*$/.test(name) ? name : `'${name}'`;
}
