/**
 * Test support: a story that is lived by a process which dies at one chosen write and is started again. In: the story
 * and the death. Out: what the process wrote until it died, and what was launched in all.
 */
import { expect } from 'vitest';
import { createEngine, type EngineOptions } from '../../src/cli/compose/engine.ts';
import { Mortality, type Death } from './mortality.ts';
import { Workbench } from './workbench.ts';

export interface Stage {
  readonly bench: Workbench;
  /** Lets time pass; a process that dies meanwhile has a successor at once. */
  readonly pass: (milliseconds: number) => Promise<void>;
  /** How many pods run. */
  readonly running: () => Promise<number>;
  /** Fails unless nothing is left: no claims, no Nodes, no pods, no machines. */
  readonly expectNothing: () => Promise<void>;
}

export interface Story {
  readonly title: string;
  readonly gates?: NonNullable<EngineOptions['gates']>;
  /** Machines that are launched in all, with or without an accident. */
  readonly launches: number;
  readonly tell: (stage: Stage) => Promise<void>;
}

export interface Life {
  readonly writes: readonly string[];
  readonly launches: number;
}

export async function live({ gates = {}, tell }: Story, death?: Death): Promise<Life> {
  const first = new Mortality(death);
  let life = first;
  const bench = await Workbench.start({
    engine: (ports) => createEngine({ ...ports, batchIdle: 1_000, batchMax: 10_000, gates }),
    decorate: (kube) => life.kube(kube),
    decorateCloud: (cloud) => life.cloud(cloud),
    pace: { boot: 5_000, ready: 1_000 },
  });
  const pass = async (milliseconds: number): Promise<void> => {
    const end = bench.clock.now() + milliseconds;
    while (bench.clock.now() < end) {
      await bench.clock.runUntil(() => (life === first && first.isDead) || bench.clock.now() >= end);
      if (life !== first || !first.isDead) continue;
      await bench.stopEngine();
      life = new Mortality();
      bench.startEngine();
    }
  };
  const running = async (): Promise<number> =>
    (await bench.pods()).filter(({ status, metadata }) => status?.phase === 'Running' && !metadata.deletionTimestamp)
      .length;
  const expectNothing = async (): Promise<void> => {
    expect(await bench.claims()).toEqual([]);
    expect(await bench.nodes()).toEqual([]);
    expect(await bench.pods()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
  };
  try {
    await tell({ bench, pass, running, expectNothing });
    expect(first.isDead).toBe(death !== undefined);
    return { writes: first.writes, launches: bench.cloud.launches.length };
  } finally {
    await bench.close();
  }
}

/** Lives the story once for each death. Out: what went wrong, and where. */
export async function failuresOf(story: Story, writes: readonly string[], deaths: readonly Death[]): Promise<string[]> {
  const failures: string[] = [];
  for (const death of deaths) {
    const where = `${death.moment} write ${death.at} (${writes[death.at]})`;
    try {
      const { launches } = await live(story, death);
      if (launches !== story.launches) failures.push(`${where}: ${launches} launches`);
    } catch (error) {
      failures.push(`${where}: ${String(error)}`);
    }
  }
  return failures;
}
