import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { expect } from 'vitest';
import type { Stage, CrashScenario } from '../fixtures/engine/crashRun.ts';
import { CLASS_REF, poolSpec } from '../fixtures/engine/workbench.ts';

const MINUTE = 60_000;
const SMALL = { key: Labels.instanceType, operator: 'In' as const, values: ['m2'] };

export async function deploy({ bench }: Stage, replicas: number): Promise<void> {
  await bench.kube.create(Kinds.Deployment, {
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m' } } }] },
      },
    },
  });
}

/** Takes the pods and their instances away. */
export async function clear({ bench, pass, expectNothing }: Stage): Promise<void> {
  await bench.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
  await bench.kube.deleteCollection(Kinds.NodeClaim, {});
  await pass(2 * MINUTE);
  await expectNothing();
}

export const LAUNCH_AND_DRAIN: CrashScenario = {
  title: 'instances that come for pods, are replaced and go',
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running } = stage;
    await bench.createPool();
    await deploy(stage, 3);
    await pass(MINUTE);
    expect(await running()).toBe(3);
    expect(bench.cloud.instances).toHaveLength(1);
    expect(await bench.claims()).toHaveLength(1);

    // The instance is replaced.
    const [claim] = await bench.claims();
    await bench.kube.delete(Kinds.NodeClaim, { name: claim?.metadata.name ?? '' });
    await pass(2 * MINUTE);
    expect(await running()).toBe(3);
    expect(bench.cloud.instances).toHaveLength(1);
    expect((await bench.nodes()).map(({ spec }) => spec?.providerID)).toEqual(
      bench.cloud.instances.map(({ providerID }) => providerID),
    );
    await clear(stage);
  },
};

const STATIC_POOL: CrashScenario = {
  title: 'a static pool that grows and shrinks',
  gates: { staticCapacity: true },
  launches: 3,
  play: async ({ bench, pass, expectNothing }) => {
    const template = { spec: { nodeClassRef: CLASS_REF, requirements: [SMALL], expireAfter: 'Never' } };
    await bench.createPool('fixed', { replicas: 2, template });
    await pass(MINUTE);
    expect(bench.cloud.instances).toHaveLength(2);
    for (const replicas of [3, 1, 0]) {
      await bench.kube.patch(Kinds.NodePool, { name: 'fixed' }, { type: 'merge', body: { spec: { replicas } } });
      await pass(2 * MINUTE);
      expect(bench.cloud.instances).toHaveLength(replicas);
      expect(await bench.claims()).toHaveLength(replicas);
      expect(await bench.nodes()).toHaveLength(replicas);
    }
    await expectNothing();
  },
};

const BUFFER: CrashScenario = {
  title: 'a buffer that is filled, taken by pods and filled again',
  gates: { capacityBuffer: true },
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running } = stage;
    const ref = { name: 'spare', namespace: 'default' };
    const container = { name: 'main', image: 'app', resources: { requests: { cpu: '900m' } } };
    await bench.createPool('default', {
      template: { spec: { nodeClassRef: CLASS_REF, requirements: [SMALL], expireAfter: 'Never' } },
    });
    await bench.kube.create(Kinds.PodTemplate, { metadata: ref, template: { spec: { containers: [container] } } });
    await bench.kube.create(Kinds.CapacityBuffer, {
      metadata: ref,
      spec: {
        provisioningStrategy: 'buffer.x-k8s.io/active-capacity',
        podTemplateRef: { name: ref.name },
        replicas: 1,
      },
    });
    await pass(2 * MINUTE);
    expect(bench.cloud.instances).toHaveLength(1);
    const conditions = (await bench.kube.get(Kinds.CapacityBuffer, ref)).status?.conditions ?? [];
    expect(conditions.map(({ type, status }) => `${type}=${status}`).sort()).toEqual([
      'Provisioning=True',
      'ReadyForProvisioning=True',
    ]);
    await deploy(stage, 3);
    await pass(2 * MINUTE);
    expect(await running()).toBe(3);
    expect(bench.cloud.instances).toHaveLength(2);
    await bench.kube.delete(Kinds.CapacityBuffer, ref);
    await clear(stage);
  },
};

const GARBAGE: CrashScenario = {
  title: 'an instance that vanishes, and one without a claim',
  launches: 3,
  play: async (stage) => {
    const { bench, pass, running } = stage;
    await bench.createPool();
    await deploy(stage, 1);
    await pass(MINUTE);
    const [claim] = await bench.claims();
    const name = claim?.metadata.name ?? '';
    bench.cloud.lose(name);
    const ghost = { metadata: { name: 'ghost' }, spec: { nodeClassRef: CLASS_REF, requirements: [SMALL] } };
    const ghostClaim = { ...ghost, spec: { ...ghost.spec, expireAfter: 'Never' } };
    await bench.cloud.create({ claim: ghostClaim, nodeClass: { metadata: { name: 'default' } } });
    await pass(12 * MINUTE);
    expect(await running()).toBe(1);
    const [replacement, ...others] = await bench.claims();
    expect(others).toEqual([]);
    expect(replacement?.metadata.name).not.toBe(name);
    expect(bench.cloud.instances.map(({ claimName }) => claimName)).toEqual([replacement?.metadata.name]);
    expect(await bench.nodes()).toHaveLength(1);
    await collectStranded(stage);
    await clear(stage);
  },
};

/** The pods of an instance that is gone never end; a cluster's pod garbage collector removes them. */
async function collectStranded({ bench }: Stage): Promise<void> {
  const nodes = new Set((await bench.nodes()).map(({ metadata }) => metadata.name));
  for (const { metadata, spec } of await bench.pods()) {
    if (nodes.has(spec?.nodeName ?? '')) continue;
    const ref = { name: metadata.name, namespace: 'default' };
    await bench.kube.delete(Kinds.Pod, ref, { gracePeriodSeconds: 0 });
  }
}

const POOL_DELETION: CrashScenario = {
  title: 'a pool that is deleted, and comes back',
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running } = stage;
    await bench.createPool();
    await deploy(stage, 2);
    await pass(MINUTE);
    expect(await running()).toBe(2);
    await bench.kube.delete(Kinds.NodePool, { name: 'default' });
    await pass(3 * MINUTE);
    expect(await bench.claims()).toEqual([]);
    expect(bench.cloud.instances).toEqual([]);
    expect(await running()).toBe(0);
    await bench.createPool();
    await pass(MINUTE);
    expect(await running()).toBe(2);
    await clear(stage);
  },
};

const EXPIRATION: CrashScenario = {
  title: 'an instance that reaches its age',
  launches: 2,
  play: async (stage) => {
    const { bench, pass, running } = stage;
    const { template, ...spec } = poolSpec();
    await bench.createPool('default', { ...spec, template: { spec: { ...template.spec, expireAfter: '10m' } } });
    await deploy(stage, 2);
    await pass(MINUTE);
    const [first] = await bench.claims();
    await pass(13 * MINUTE);
    const [second, ...others] = await bench.claims();
    expect(others).toEqual([]);
    expect(second?.metadata.name).not.toBe(first?.metadata.name);
    expect(await running()).toBe(2);
    expect(bench.cloud.instances).toHaveLength(1);
    await clear(stage);
  },
};

export const OTHER_SCENARIOS: readonly CrashScenario[] = [STATIC_POOL, BUFFER, GARBAGE, POOL_DELETION, EXPIRATION];
