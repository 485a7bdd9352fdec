import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Kinds, type Node, type Pod } from '../../../src/api/kinds.ts';
import type { NodeClaim } from '../../../src/api/kinds/nodeClaim.ts';
import { FieldManagers, Labels, Taints } from '../../../src/api/labels.ts';
import { FAKE, KwokLabels, PROVIDER_PREFIX } from '../../../src/kwok/kwokLabels.ts';
import { isRunning, KwokCluster } from './kwokCluster.ts';

const ARGS = ['--batch-idle-duration=300ms', '--batch-max-duration=3s'];
const FOUR_CORES = [{ key: 'karpenter.kwok.sh/instance-cpu', operator: 'In' as const, values: ['4'] }];
const sized = (cpu: string) => [{ name: 'main', image: 'app', resources: { requests: { cpu } } }];

/** With the real scheduler, which does not know plans. */
describe('placement hints', () => {
  let cluster: KwokCluster;

  beforeEach(async () => {
    cluster = await KwokCluster.start();
  });
  afterEach(() => cluster?.stop());

  const running = (count: number): Promise<readonly Pod[]> =>
    cluster.eventually(`${count} pods run`, async () => {
      const pods = (await cluster.pods()).filter(isRunning);
      return pods.length === count ? pods : undefined;
    });

  it('survive the controller between launch and join', async () => {
    await cluster.kube.patch(
      Kinds.KWOKNodeClass,
      { name: 'default' },
      { type: 'merge', body: { spec: { nodeRegistrationDelay: '1h' } } },
    );
    const first = await cluster.run(ARGS);
    await cluster.pool('default', {}, { requirements: FOUR_CORES });
    // Two nodes of 3.9 cores, both full: in another order, a small pod does not fit.
    await cluster.deployment('large', 2, { containers: sized('2500m') });
    await cluster.deployment('middle', 1, { containers: sized('1400m') });
    await cluster.deployment('small', 2, { containers: sized('700m') });
    const claims = await cluster.eventually('both instances are launched', async () => {
      const launched = (await cluster.claims()).filter(({ status }) => status?.providerID);
      return launched.length === 2 ? launched : undefined;
    });
    await first.end('SIGKILL');
    const second = await cluster.run(ARGS);
    for (const claim of claims) await join(claim);
    await running(5);
    expect(await cluster.claims()).toHaveLength(2);
    expect(await second.metric('nodewright_placement_hints_total', { outcome: 'followed' })).toBe(5);
  });

  it.each<[string, (other: Node) => Promise<string>]>([
    ['is gone', async () => 'no-such-node'],
    ['is full', async ({ metadata }) => metadata.name],
    [
      'is tainted by somebody',
      async ({ metadata }) => {
        const taints = [{ key: 'example.com/keep-out', effect: 'NoSchedule' }];
        await cluster.kube.patch(Kinds.Node, metadata, { type: 'merge', body: { spec: { taints } } });
        return metadata.name;
      },
    ],
  ])('do not hold up a pod when the node that they name %s', async (_what, nodeOf) => {
    await cluster.run(ARGS);
    await cluster.pool('default', {}, { requirements: FOUR_CORES });
    await cluster.deployment('full', 1, { containers: sized('3800m') });
    await cluster.deployment('roomy', 1, { containers: sized('1500m') });
    const [pod] = (await running(2)).filter(({ metadata }) => metadata.name.startsWith('full'));
    const wrong = await nodeOf(await cluster.kube.get(Kinds.Node, { name: pod?.spec?.nodeName ?? '' }));

    const ref = { name: 'misled', namespace: 'default' };
    const spec = { containers: sized('500m'), schedulingGates: [{ name: 'example.com/wait' }] };
    await cluster.kube.create(Kinds.Pod, { metadata: ref, spec } as never);
    await cluster.kube.patch(
      Kinds.Pod,
      ref,
      { type: 'merge', body: { status: { nominatedNodeName: wrong } } },
      { subresource: 'status', fieldManager: FieldManagers.placementHints },
    );
    await cluster.kube.patch(Kinds.Pod, ref, { type: 'merge', body: { spec: { schedulingGates: null } } });
    const pods = await running(3);
    const misled = pods.find(({ metadata }) => metadata.name === 'misled');
    expect(misled?.spec?.nodeName).not.toBe(wrong);
    expect(await cluster.nodes()).toHaveLength(2);
  });

  it('leave preemption to the scheduler', async () => {
    await cluster.run(ARGS);
    await cluster.kube.create(Kinds.PriorityClass, { metadata: { name: 'high' }, value: 1_000 } as never);
    await cluster.pool('default', { limits: { cpu: '8' } }, { requirements: FOUR_CORES });
    await cluster.deployment('low', 4, { containers: sized('1900m') });
    await running(4);
    await cluster.deployment('high', 1, { containers: sized('1900m'), priorityClassName: 'high' });
    await cluster.eventually('the important pod runs in the place of another', async () => {
      const pods = (await cluster.pods()).filter(isRunning);
      return pods.length === 4 && pods.some(({ metadata }) => metadata.name.startsWith('high')) ? true : undefined;
    });
    expect(await cluster.nodes()).toHaveLength(2);
  });

  /** Simulates the instance, because its controller is another process than the one that launched it. */
  async function join({ metadata, status }: NodeClaim): Promise<void> {
    const providerID = status?.providerID ?? '';
    const name = providerID.slice(PROVIDER_PREFIX.length);
    const labels = { ...metadata.labels, [Labels.hostname]: metadata.name, [KwokLabels.node]: FAKE };
    await cluster.kube.create(Kinds.Node, {
      metadata: { name, labels, annotations: { [KwokLabels.node]: FAKE } },
      spec: { providerID, taints: [Taints.unregistered] },
      status: { capacity: status?.capacity, allocatable: status?.allocatable },
    } as never);
  }
});
