/**
 * What a test imports: `import { runFlow, runHandler } from 'asya-serverless/testing'`.
 *
 * `runHandler` runs one handler with a context. `runFlow` runs a flow of a mesh with its policies, in virtual time. Both
 * work in vitest, node:test and any other test runner, and need no mesh, no broker and no network.
 */
export type { FlowRunOptions, HandlerFunction } from './flow-options.ts';
export type { FlowEnd, FlowRun, FlowSend, FlowStep, StepError } from './flow-run.ts';
export { runFlow } from './run-flow.ts';
export {
  type HandlerError,
  type HandlerRun,
  type HandlerRunOptions,
  type ItemOf,
  runHandler,
  type SentItem,
} from './run-handler.ts';
