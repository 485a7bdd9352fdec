/**
 * The local scheduler compared with kube-scheduler on random clusters: both find a node, or both give the same reasons.
 */
import { describe, expect, it } from 'vitest';
import { Kinds, type Pod } from '../../../src/api/kinds.ts';
import { SeededRandom } from '../../../src/clock/seededRandom.ts';
import { ignoreNotFound } from '../../../src/kube/errors.ts';
import type { Draft, Kube } from '../../../src/kube/kube.ts';
import { eventually } from '../../controlplane/eventually.ts';
import { randomPlacement, type RandomPlacement } from './randomPlacement.ts';
import { realScheduler, withLocalScheduler, type Until } from './schedulers.ts';

const CLUSTERS = 12;
const PROBES = 20;
const PATIENCE = 60_000;

const outcomeOf = ({ spec, status }: Pod): string | undefined => {
  if (spec?.nodeName) return 'placed';
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled.message : undefined;
};

async function furnish(kube: Kube, { nodes, placed }: RandomPlacement): Promise<void> {
  for (const node of nodes) {
    const { name } = node.metadata;
    await kube.create(Kinds.Node, node);
    // Servers mark a new node as not ready; whether it is, is not the question here.
    const taints = [
      ...(node.spec?.taints ?? []),
      ...(node.spec?.unschedulable ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] : []),
    ];
    await kube.patch(Kinds.Node, { name: name ?? '' }, { type: 'merge', body: { spec: { taints } } });
  }
  for (const pod of placed) await kube.create(Kinds.Pod, pod);
}

async function probe(kube: Kube, pod: Draft<Pod>, until: Until): Promise<string> {
  const ref = { name: pod.metadata.name ?? '', namespace: 'default' };
  await kube.create(Kinds.Pod, pod);
  const outcome = await until(`${ref.name} is judged`, async () => outcomeOf(await kube.get(Kinds.Pod, ref)));
  await kube.delete(Kinds.Pod, ref, { gracePeriodSeconds: 0 });
  await until(`${ref.name} is gone`, async () =>
    (await ignoreNotFound(kube.get(Kinds.Pod, ref))) === undefined ? 'gone' : undefined,
  );
  return outcome;
}

function ours(placement: RandomPlacement): Promise<string[]> {
  return withLocalScheduler(async (kube, until) => {
    await furnish(kube, placement);
    const outcomes: string[] = [];
    for (const pod of placement.seeking) outcomes.push(await probe(kube, pod, until));
    return outcomes;
  });
}

describe('the scheduler', { timeout: 600_000 }, () => {
  const real = realScheduler();

  it.each(Array.from({ length: CLUSTERS }, (_, index) => index))(
    'judges as the real one does, cluster %i',
    async (seed) => {
      const kube = real();
      const placement = randomPlacement(new SeededRandom(`placement ${seed}`), PROBES);
      await furnish(kube, placement);
      const outcomes: string[] = [];
      for (const pod of placement.seeking) {
        outcomes.push(await probe(kube, pod, (what, ask) => eventually(what, ask, PATIENCE)));
      }
      for (const pod of placement.placed)
        await kube.delete(
          Kinds.Pod,
          { name: pod.metadata.name ?? '', namespace: 'default' },
          { gracePeriodSeconds: 0 },
        );
      for (const node of placement.nodes) await kube.delete(Kinds.Node, { name: node.metadata.name ?? '' });
      expect(await ours(placement)).toEqual(outcomes);
    },
  );
});
