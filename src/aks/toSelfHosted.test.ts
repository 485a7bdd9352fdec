import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualCluster } from '../../test/fixtures/local/virtualCluster.ts';
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import { RELEASE } from './installSteps.ts';
import { readCluster } from './managedCluster.ts';
import { renderChart } from './renderChart.ts';
import { runSteps } from './step.ts';
import { toSelfHostedSteps, type SelfHostedOptions } from './toSelfHosted.ts';

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const ROLE = JSON.parse(readFileSync(join(CHART, 'azure-role.json'), 'utf8')) as { readonly Actions: string[] };

const OPTIONS: SelfHostedOptions = {
  enable: {
    image: { repository: 'images/nodewright' },
    defaultNodePools: 'None',
    actions: ROLE.Actions,
    renderChart: (values) => renderChart(CHART, values, RELEASE),
    timeout: 600_000,
  },
  disable: { drain: false, objects: [], timeout: 600_000 },
  deleteEmptyDirData: false,
};

describe('from managed to self-hosted', { timeout: 300_000 }, () => {
  let cluster: VirtualCluster;

  beforeEach(async () => {
    cluster = await VirtualCluster.start();
    // Represents a node bought by node auto-provisioning.
    cluster.world.arm.addAgentPool('nap', {
      mode: 'User',
      count: 1,
      vmSize: 'Standard_D4s_v5',
      nodeLabels: { [Labels.nodePool]: 'default' },
    });
    await cluster.advance(1);
  });
  afterEach(() => cluster.stop());

  const addPod = async (name: string, spec: object): Promise<void> => {
    const selector = { nodeSelector: { [Labels.nodePool]: 'default' }, containers: [{ name: 'main', image: name }] };
    await cluster.kube.create(Kinds.Pod, { metadata: { name, namespace: 'default' }, spec: { ...selector, ...spec } });
    await cluster.advance(1);
  };
  const steps = (options = OPTIONS) => cluster.finish(toSelfHostedSteps(cluster.context, options));
  const mode = async () =>
    (await cluster.finish(readCluster(cluster.context.arm, cluster.context.name))).properties.nodeProvisioningProfile
      ?.mode;

  it('is refused with the pods that would lose data, and the reasons', async () => {
    await addPod('bare', {});
    await addPod('scratch', { volumes: [{ name: 'data', emptyDir: {} }] });
    await addPod('host', { volumes: [{ name: 'disk', hostPath: { path: '/data' } }] });
    await expect(steps()).rejects.toMatchObject({
      code: 'DataWouldBeLost',
      data: {
        pods: [
          'default/bare (no controller makes it again)',
          'default/host (no controller makes it again, hostPath disk)',
          'default/scratch (no controller makes it again, emptyDir data)',
        ],
      },
    });
    await expect(steps({ ...OPTIONS, deleteEmptyDirData: true })).rejects.toThrow(
      'default/scratch (no controller makes it again)',
    );
    expect(await mode()).toBe('Auto');
  });

  it('drains, sets the mode to Manual and installs nodewright, which gets its pools back as they were', async () => {
    const body = { spec: { limits: { cpu: '100' } } };
    await cluster.kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
    const plan = await cluster.finish(runSteps(await steps(), { dryRun: true }));
    expect(plan.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['limits', 'taint', 'empty', 'manual', 'ready']),
    );
    const running = runSteps(await steps(), { dryRun: false });
    // Node auto-provisioning does not run here: its node's pool is emptied by hand.
    cluster.world.arm.addAgentPool('nap', { count: 0 });
    const records = await cluster.finish(running);
    expect(records.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(await mode()).toBe('Manual');
    const { spec } = await cluster.kube.get(Kinds.NodePool, { name: 'default' });
    expect(spec.limits).toEqual({ cpu: '100' });
    expect(spec.template.spec.taints).toBeUndefined();
    // The chart has as many replicas as there are nodes for.
    await cluster.finish(runSteps(await steps(), { dryRun: false }));
    const again = await cluster.finish(runSteps(await steps(), { dryRun: false }));
    expect([...new Set(again.map(({ state }) => state))]).toEqual(['done']);
  });
});
