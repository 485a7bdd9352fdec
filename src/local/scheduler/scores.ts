/** The best of the nodes that can run a pod, by the weights of kube-scheduler's default plugins; the first among equals. */
import { roomScore, shareUsed } from '../../pods/nodeScore.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { Seeker } from './filters.ts';
import { nodePreference } from './nodeAffinity.ts';
import type { NodeInfo } from './nodeInfo.ts';

const HIGHEST = 100;
const WEIGHTS = { taints: 3, nodeAffinity: 2, podAffinity: 2, spread: 2 } as const;

export function bestNode(seeker: Seeker, candidates: readonly NodeInfo[]): NodeInfo | undefined {
  if (candidates.length <= 1) return candidates[0];
  const totals = candidates.map((node) => roomOn(seeker, node));
  const { pod } = seeker.info;
  if (candidates.some(({ taints }) => taints.some(({ effect }) => effect === 'PreferNoSchedule'))) {
    addScores(
      totals,
      candidates.map((node) => -dislikes(seeker, node)),
      WEIGHTS.taints,
    );
  }
  if (pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution) {
    addScores(
      totals,
      candidates.map(({ node }) => nodePreference(pod, node)),
      WEIGHTS.nodeAffinity,
    );
  }
  if (seeker.affinity.hasPreference) {
    addScores(
      totals,
      candidates.map((node) => seeker.affinity.preference(node)),
      WEIGHTS.podAffinity,
    );
  }
  if (seeker.spread.hasPreference) {
    addScores(
      totals,
      candidates.map((node) => -seeker.spread.crowding(node)),
      WEIGHTS.spread,
    );
  }
  let best = 0;
  for (let index = 1; index < totals.length; index++) {
    if ((totals[index] ?? 0) > (totals[best] ?? 0)) best = index;
  }
  return candidates[best];
}

/** Stretches raw scores over 0…100, as plugins do when they normalise, and adds them. */
function addScores(totals: number[], raw: readonly number[], weight: number): void {
  const finite = raw.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  if (!(high > low) && finite.length === raw.length) return;
  raw.forEach((value, index) => {
    const share = !Number.isFinite(value) ? 0 : high > low ? (value - low) / (high - low) : 1;
    totals[index] = (totals[index] ?? 0) + weight * HIGHEST * share;
  });
}

function roomOn({ info }: Seeker, node: NodeInfo): number {
  const share = (resource: string): number =>
    shareUsed(node.used[resource] ?? 0, info.requests[resource] ?? 0, node.allocatable[resource] ?? 0);
  return roomScore({ cpu: share('cpu'), memory: share('memory') });
}

function dislikes({ info }: Seeker, node: NodeInfo): number {
  return node.taints.filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, info.pod.spec?.tolerations),
  ).length;
}
