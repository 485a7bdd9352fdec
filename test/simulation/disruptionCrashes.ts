/** Disruption commands of every kind, each from its first mark to the end of what it removes. */
import { expect } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { InsufficientCapacityError } from '../../src/cloud/errors.ts';
import type { CrashScenario, Stage } from '../fixtures/engine/crashRun.ts';
import { poolSpec } from '../fixtures/engine/workbench.ts';
import { clear, deploy } from './crashScenarios.ts';

const MINUTE = 60_000;
const patchPool = ({ bench }: Stage, spec: object): Promise<unknown> =>
  bench.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body: { spec } });
const relabel = (stage: Stage): Promise<unknown> =>
  patchPool(stage, { template: { metadata: { labels: { team: 'blue' } } } });

async function expectNoMarks({ bench }: Stage): Promise<void> {
  for (const { metadata, spec } of await bench.nodes()) {
    expect([metadata.name, spec?.taints ?? []]).toEqual([metadata.name, []]);
  }
  for (const claim of await bench.claims()) {
    expect(claim.status?.conditions?.map(({ type }) => type)).not.toContain('DisruptionReason');
  }
}

const uids = async ({ bench }: Stage): Promise<readonly (string | undefined)[]> =>
  (await bench.claims()).map(({ metadata }) => metadata.uid);

/** Three pods on an instance that only drift removes. Returns the UIDs of the claims. */
async function threePods(stage: Stage): Promise<readonly (string | undefined)[]> {
  const disruption = { ...poolSpec().disruption, consolidateAfter: 'Never' };
  await stage.bench.createPool('default', { disruption });
  await deploy(stage, 3);
  await stage.pass(MINUTE);
  return uids(stage);
}

const DRIFT: CrashScenario = {
  title: 'a drifted instance that is replaced',
  launches: 2,
  play: async (stage) => {
    const { pass, running, disrupting } = stage;
    const [first] = await threePods(stage);
    await disrupting(async () => {
      await relabel(stage);
      await pass(4 * MINUTE);
    });
    const [second, ...others] = await uids(stage);
    expect(others).toEqual([]);
    expect(second).not.toBe(first);
    expect(await running()).toBe(3);
    await expectNoMarks(stage);
    await clear(stage);
  },
};

const ROLL_BACK: CrashScenario = {
  title: 'a drifted instance whose replacement cannot be had for a while',
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running, disrupting } = stage;
    const first = await threePods(stage);
    bench.cloud.launchOutage = new InsufficientCapacityError('sold out');
    await disrupting(async () => {
      await relabel(stage);
      await pass(3 * MINUTE);
      await patchPool(stage, { disruption: { budgets: [{ nodes: '0' }] } });
      await pass(MINUTE);
    });
    expect(await uids(stage)).toEqual(first);
    expect(await running()).toBe(3);
    await expectNoMarks(stage);
    bench.cloud.launchOutage = undefined;
    await patchPool(stage, { disruption: { budgets: [{ nodes: '1' }] } });
    await pass(20 * MINUTE);
    const [second, ...others] = await uids(stage);
    expect(others).toEqual([]);
    expect(first).not.toContain(second);
    expect(await running()).toBe(3);
    await expectNoMarks(stage);
    await clear(stage);
  },
};

const CONSOLIDATION: CrashScenario = {
  title: 'an instance that is too large for what is left, and then empty',
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running, disrupting } = stage;
    await bench.createPool();
    await deploy(stage, 15);
    await pass(MINUTE);
    const scale = (replicas: number): Promise<unknown> =>
      bench.kube.patch(
        Kinds.Deployment,
        { name: 'web', namespace: 'default' },
        { type: 'merge', body: { spec: { replicas } } },
      );
    await disrupting(async () => {
      await scale(2);
      await pass(4 * MINUTE);
      expect(await running()).toBe(2);
      expect((await bench.nodes()).map(({ metadata }) => metadata.labels?.[Labels.instanceType])).toEqual(['m2']);
      await expectNoMarks(stage);
      await scale(0);
      await pass(3 * MINUTE);
    });
    expect(await bench.claims()).toEqual([]);
    await clear(stage);
  },
};

export const DISRUPTION_SCENARIOS: readonly CrashScenario[] = [DRIFT, ROLL_BACK, CONSOLIDATION];
