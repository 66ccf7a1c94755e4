import { type DeployedFunction, type FunctionProcess, startFunction } from './function-process.ts';

/** One figure per round and function. The figures of a round were measured next to each other. */
export type Rounds = readonly ReadonlyMap<string, number>[];

const COLD_ROUNDS = 21;
const MEMORY_ROUNDS = 5;
const WARM_ROUNDS = 31;
/** After these invocations, Node has optimized what it will optimize. */
const WARM_UPS = 150;
const SINGLES_PER_ROUND = 12;
const BATCHES_PER_ROUND = 6;
const BATCH_SIZE = 10;

/** Milliseconds from the start of a process to its first response. */
export async function measureCold(functions: readonly DeployedFunction[]): Promise<Rounds> {
  const first = async (deployed: DeployedFunction) => {
    const running = await startFunction(deployed);
    await running.stop();
    return running.firstMs;
  };
  // The first round reads the files from disk.
  const rounds = await inRounds(named(functions), COLD_ROUNDS + 1, first);
  return rounds.slice(1);
}

/** Megabytes of all processes of a function, after the same invocations, while no other function runs. */
export function measureMemory(functions: readonly DeployedFunction[]): Promise<Rounds> {
  return inRounds(named(functions), MEMORY_ROUNDS, async (deployed) => {
    const running = await startFunction(deployed);
    await invokeTimes(running, WARM_UPS / 3, 1);
    await invokeTimes(running, WARM_UPS / 10, BATCH_SIZE);
    const megabytes = running.memoryMb();
    await running.stop();
    return megabytes;
  });
}

/** Milliseconds per invocation of one record, and per record of a batch. */
export async function measureWarm(
  functions: readonly DeployedFunction[],
): Promise<{ readonly warm1: Rounds; readonly warm10: Rounds }> {
  const running = new Map<string, FunctionProcess>();
  for (const deployed of functions) running.set(deployed.name, await startFunction(deployed));
  for (const one of running.values()) {
    await invokeTimes(one, WARM_UPS, 1);
    await invokeTimes(one, WARM_UPS, BATCH_SIZE);
  }
  const warm1 = await inRounds(running, WARM_ROUNDS, (one) => invokeTimes(one, SINGLES_PER_ROUND, 1));
  const warm10 = await inRounds(
    running,
    WARM_ROUNDS,
    async (one) => (await invokeTimes(one, BATCHES_PER_ROUND, BATCH_SIZE)) / BATCH_SIZE,
  );
  for (const one of running.values()) await one.stop();
  return { warm1, warm10 };
}

/** The average duration of these invocations. */
async function invokeTimes(running: FunctionProcess, times: number, records: number): Promise<number> {
  let sum = 0;
  for (let index = 0; index < times; index++) sum += await running.invoke(records);
  return sum / times;
}

function named(functions: readonly DeployedFunction[]): ReadonlyMap<string, DeployedFunction> {
  return new Map(functions.map((deployed) => [deployed.name, deployed]));
}

/** Measures all functions in each round, and begins each round with another one. */
async function inRounds<Measured>(
  functions: ReadonlyMap<string, Measured>,
  count: number,
  measure: (one: Measured) => Promise<number>,
): Promise<Rounds> {
  const order = [...functions];
  const rounds: Map<string, number>[] = [];
  for (let index = 0; index < count; index++) {
    const round = new Map<string, number>();
    for (const [name, one] of order) round.set(name, await measure(one));
    rounds.push(round);
    order.push(...order.splice(0, 1));
  }
  return rounds;
}
