/** The best of the nodes that can run a pod, by the weights of kube-scheduler's default plugins; the first among equals. */
import { roomScore, shareUsed } from '../../pods/nodeScore.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { Seeker } from './filters.ts';
import { nodePreference } from './nodeAffinity.ts';
import type { NodeInfo, Taint } from './nodeInfo.ts';

const HIGHEST = 100;
const WEIGHTS = { taints: 3, nodeAffinity: 2, podAffinity: 2, spread: 2 } as const;

export function bestNode(seeker: Seeker, candidates: readonly NodeInfo[]): NodeInfo | undefined {
  if (candidates.length <= 1) return candidates[0];
  const totals = candidates.map((node) => roomOn(seeker, node));
  const { pod } = seeker.info;
  const add = (plugin: keyof typeof WEIGHTS, score: (node: NodeInfo) => number): void =>
    addScores(totals, candidates.map(score), WEIGHTS[plugin]);
  if (candidates.some(({ taints }) => taints.some(isSoft))) add('taints', (node) => -dislikes(seeker, node));
  if (pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution) {
    add('nodeAffinity', ({ node }) => nodePreference(pod, node));
  }
  if (seeker.affinity.hasPreference) add('podAffinity', (node) => seeker.affinity.preference(node));
  if (seeker.spread.hasPreference) add('spread', (node) => -seeker.spread.crowding(node));
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

const isSoft = ({ effect }: Taint): boolean => effect === 'PreferNoSchedule';

/** How many taints of the node the pod would rather avoid. */
const dislikes = ({ info: { pod } }: Seeker, { taints }: NodeInfo): number =>
  taints.filter((taint) => isSoft(taint) && !isTolerated(taint, pod.spec?.tolerations)).length;
