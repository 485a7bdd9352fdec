/**
 * Drills: Azure fails in some way while a deployment starts. Every pod still runs, not much later than without
 * failures, and after the deployment is deleted nothing is left in Azure.
 */
import { describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { Annotations, Labels } from '../../src/api/labels.ts';
import type { Kube } from '../../src/kube/kube.ts';
import { faultOrder, type FaultOrder } from '../../src/local/faults/faultKinds.ts';
import type { Profile } from '../../src/local/faults/profiles.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PODS = 18;
const STEP = 10 * SECOND;
const MIDWAY = 20 * SECOND;
const OURS = /^microsoft\.(?:compute\/virtualmachines|compute\/disks|network\/networkinterfaces)$/;

interface Outcome {
  /** Milliseconds from the creation of the deployment until each pod ran. */
  readonly times: readonly number[];
  /** Nodes that joined. */
  readonly nodes: number;
  /** Requests to Azure while they came. */
  readonly requests: number;
  /** What Azure still has in the end. */
  readonly left: readonly string[];
}

interface Drill {
  readonly name: string;
  readonly profile?: Profile;
  readonly faults?: readonly FaultOrder[];
  /** Requests to Azure that get no answer. */
  readonly unreachable?: RegExp;
  /** Before the deployment is created. */
  readonly prepare?: (kube: Kube) => Promise<void>;
  /** While its nodes come. */
  readonly midway?: (aks: VirtualAks) => Promise<void>;
}

async function drill({ profile = 'calm', faults = [], ...more }: Drill, patience: number): Promise<Outcome> {
  let requests = 0;
  // What is asked for the sake of one node; the loops that keep prices, quota and classes fresh are not its doing.
  const onRequest = (_method: string, url: string): void => {
    if (more.unreachable?.test(url) === true) throw new Error(`connect ECONNREFUSED ${url}`);
    if (/virtualMachines|networkInterfaces|operations/i.test(url)) requests += 1;
  };
  const aks = await VirtualAks.start({ seed: 'drill', scenario: 'quiet', profile, onRequest });
  const left = new Set<string>();
  aks.world.arm.onChange((change) => {
    if ('removed' in change) left.delete(change.removed.toLowerCase());
    if ('resource' in change && OURS.test(change.resource.type.toLowerCase()))
      left.add(change.resource.id.toLowerCase());
  });
  await more.prepare?.(aks.kube);
  await aks.advance(30 * SECOND);
  for (const fault of faults) aks.world.faults.add(fault);
  const before = requests;
  const labels = { app: 'web' };
  await aks.kube.create(Kinds.Deployment, {
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      replicas: PODS,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: 'c', image: 'web', resources: { requests: { cpu: '900m', memory: '1Gi' } } }],
          topologySpreadConstraints: [
            {
              maxSkew: 3,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: labels },
            },
          ],
        },
      },
    },
  });
  const ranAt = new Map<string, number>();
  for (let waited = STEP; waited <= patience && ranAt.size < PODS; waited += STEP) {
    await aks.advance(STEP);
    if (waited === MIDWAY) await more.midway?.(aks);
    for (const { metadata, status } of (await aks.kube.list(Kinds.Pod, { namespace: 'default' })).items) {
      if (status?.phase === 'Running' && !ranAt.has(metadata.name)) ranAt.set(metadata.name, waited);
    }
  }
  const spent = requests - before;
  const nodes = (await aks.kube.list(Kinds.Node)).items.filter(
    ({ metadata }) => metadata.labels?.['karpenter.sh/nodepool'] !== undefined,
  ).length;
  await aks.kube.delete(Kinds.Deployment, { namespace: 'default', name: 'web' });
  for (let waited = 0; waited < 40 * MINUTE && left.size > 0; waited += MINUTE) await aks.advance(MINUTE);
  await aks.stop();
  return { times: [...ranAt.values()], nodes, requests: spent, left: [...left] };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function allowSpot(kube: Kube): Promise<void> {
  const { spec } = await kube.get(Kinds.NodePool, { name: 'default' });
  const requirements = spec.template.spec.requirements.map((requirement) =>
    requirement.key === Labels.capacityType ? { ...requirement, values: ['spot'] } : requirement,
  );
  const body = { spec: { template: { spec: { requirements } } } };
  await kube.patch(Kinds.NodePool, { name: 'default' }, { type: 'merge', body });
}

async function pinImages(kube: Kube, version: string | null): Promise<void> {
  const body = { metadata: { annotations: { [Annotations.imageVersion]: version } } };
  await kube.patch(Kinds.AKSNodeClass, { name: 'default' }, { type: 'merge', body });
}

const DRILLS: readonly Drill[] = [
  { name: 'one attempt in four succeeds', profile: 'realistic' },
  { name: 'everything fails now and then', profile: 'stormy' },
  { name: 'a wall of quota', faults: [faultOrder('family-quota', { share: 0.8, for: 10 * MINUTE })] },
  { name: 'a zone is out', faults: [faultOrder('zonal-allocation', { zone: '1' })] },
  { name: 'Azure throttles', faults: [faultOrder('throttle', { share: 0.2, after: 5 * SECOND })] },
  {
    name: 'interfaces of refused launches stay reserved',
    faults: [faultOrder('allocation', { share: 0.5, for: 5 * MINUTE }), faultOrder('nic-reserved')],
  },
  {
    name: 'half of all operations succeed late',
    faults: ['virtualMachines', 'networkInterfaces'].flatMap((kind) =>
      ['createOrUpdate', 'delete'].map((verb) =>
        faultOrder('lro-late', { operation: `${kind}.${verb}`, share: 0.5, by: MINUTE }),
      ),
    ),
  },
  { name: 'operations fail late', faults: [faultOrder('lro-fail', { share: 0.5, for: 2 * MINUTE })] },
  { name: 'prices cannot be read', unreachable: /retail\/prices/ },
  {
    name: 'spot instances are taken back while they start',
    prepare: allowSpot,
    midway: async ({ world }) =>
      void world.faults.add(faultOrder('spot-eviction', { share: 0.5, notice: 30 * SECOND })),
  },
  {
    name: 'an image is released while nodes come',
    prepare: (kube) => pinImages(kube, '202606.01.0'),
    midway: ({ kube }) => pinImages(kube, null),
  },
];

describe('when Azure fails', () => {
  let calm: Outcome | undefined;
  const calmOutcome = async (): Promise<Outcome> => (calm ??= await drill({ name: 'calm' }, 10 * MINUTE));

  it('a calm day takes few requests for each node, and leaves nothing', { timeout: 900_000 }, async () => {
    const { times, left, requests, nodes } = await calmOutcome();
    expect(times).toHaveLength(PODS);
    expect(left).toEqual([]);
    expect(requests / nodes).toBeLessThanOrEqual(12);
  });

  it.each(DRILLS)('$name: every pod runs in good time, and nothing is left', { timeout: 900_000 }, async (each) => {
    const usual = median((await calmOutcome()).times);
    const { times, left } = await drill(each, 30 * MINUTE);
    expect({ ran: times.length, left }).toEqual({ ran: PODS, left: [] });
    expect(median(times)).toBeLessThanOrEqual(3 * usual);
  });
});
