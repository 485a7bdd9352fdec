/**
 * Drills: Azure fails in one way or another while a deployment starts. Every pod runs nevertheless, not much later than
 * on a calm day, and when the deployment is gone nothing is left in Azure.
 */
import { describe, expect, it } from 'vitest';
import { Kinds } from '../../src/api/kinds.ts';
import { faultOrder, type FaultOrder } from '../../src/local/faults/faultKinds.ts';
import type { Profile } from '../../src/local/faults/profiles.ts';
import { VirtualAks } from '../fixtures/engine/virtualAks.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PODS = 18;
const STEP = 10 * SECOND;
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

async function drill(profile: Profile, faults: readonly FaultOrder[], patience: number): Promise<Outcome> {
  let requests = 0;
  // What is asked for the sake of one node; the loops that keep prices, quota and classes fresh are not its doing.
  const onRequest = (_method: string, url: string): void => {
    if (/virtualMachines|networkInterfaces|operations/i.test(url)) requests += 1;
  };
  const aks = await VirtualAks.start({ seed: 'drill', scenario: 'quiet', profile, onRequest });
  const left = new Set<string>();
  aks.world.arm.onChange((change) => {
    if ('removed' in change) left.delete(change.removed.toLowerCase());
    if ('resource' in change && OURS.test(change.resource.type.toLowerCase()))
      left.add(change.resource.id.toLowerCase());
  });
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

const DRILLS: readonly (readonly [string, Profile, readonly FaultOrder[]])[] = [
  ['one attempt in four succeeds', 'realistic', []],
  ['a wall of quota', 'calm', [faultOrder('family-quota', { share: 0.8, for: 10 * MINUTE })]],
  ['a zone is out', 'calm', [faultOrder('zonal-allocation', { zone: '1' })]],
  ['Azure throttles', 'calm', [faultOrder('throttle', { share: 0.2, after: 5 * SECOND })]],
  [
    'interfaces of refused launches stay reserved',
    'calm',
    [faultOrder('allocation', { share: 0.5, for: 5 * MINUTE }), faultOrder('nic-reserved')],
  ],
];

describe('when Azure fails', () => {
  it('every pod runs in good time, and nothing is left in the end', { timeout: 900_000 }, async () => {
    const calm = await drill('calm', [], 10 * MINUTE);
    expect(calm.times).toHaveLength(PODS);
    expect(calm.left).toEqual([]);
    expect(calm.requests / calm.nodes).toBeLessThanOrEqual(12);
    for (const [name, profile, faults] of DRILLS) {
      const { times, left } = await drill(profile, faults, 30 * MINUTE);
      const isTimely = median(times) <= 3 * median(calm.times);
      expect({ name, ran: times.length, left, isTimely }).toEqual({ name, ran: PODS, left: [], isTimely: true });
    }
  });
});
