import type { FunctionSample, LoadSample } from './load.ts';

const EMPTY: FunctionSample = {
  backlog: 0,
  backlogAtMs: 0,
  oldestMs: 0,
  copies: 0,
  invocations: 0,
  deliveries: 0,
};

/** Collects what happens in the steps of a load. */
export interface SampleRecorder {
  enter(atMs: number, envelopes: number): void;
  note(actor: string, at: FunctionSample): void;
  samples(): readonly LoadSample[];
  total(): LoadSample;
}

export function sampleRecorder(sampleMs: number): SampleRecorder {
  const samples: { fromMs: number; entered: number; functions: Map<string, FunctionSample> }[] = [];
  const sampleAt = (atMs: number) => {
    const index = Math.floor(atMs / sampleMs);
    samples[index] ??= { fromMs: index * sampleMs, entered: 0, functions: new Map() };
    return samples[index];
  };
  return {
    enter: (atMs, envelopes) => {
      sampleAt(atMs).entered += envelopes;
    },
    note: (actor, at) => {
      const { functions } = sampleAt(at.backlogAtMs);
      functions.set(actor, merged(functions.get(actor) ?? EMPTY, at));
    },
    samples: () => samples,
    total: () => {
      const functions = new Map<string, FunctionSample>();
      for (const sample of samples)
        for (const [actor, at] of sample.functions)
          functions.set(actor, merged(functions.get(actor) ?? EMPTY, at));
      return { fromMs: 0, entered: samples.reduce((sum, { entered }) => sum + entered, 0), functions };
    },
  };
}

function merged(one: FunctionSample, other: FunctionSample): FunctionSample {
  const fuller = other.backlog > one.backlog ? other : one;
  return {
    backlog: fuller.backlog,
    backlogAtMs: fuller.backlogAtMs,
    oldestMs: Math.max(one.oldestMs, other.oldestMs),
    copies: Math.max(one.copies, other.copies),
    invocations: one.invocations + other.invocations,
    deliveries: one.deliveries + other.deliveries,
  };
}
