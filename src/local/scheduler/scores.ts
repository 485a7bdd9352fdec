/** Returns the feasible node with the highest score by kube-scheduler's default plugins; the first of equal ones. */
import { roomScore, shareUsed } from '../../pods/nodeScore.ts';
import { isTolerated } from '../../pods/taints.ts';
import type { CycleState } from './filters.ts';
import { nodePreference } from './nodeAffinity.ts';
import type { NodeInfo, Taint } from './nodeInfo.ts';

const HIGHEST = 100;
const WEIGHTS = { taints: 3, nodeAffinity: 2, podAffinity: 2, spread: 2 } as const;

export function bestNode(state: CycleState, candidates: readonly NodeInfo[]): NodeInfo | undefined {
  if (candidates.length <= 1) return candidates[0];
  const totals = candidates.map((node) => roomOn(state, node));
  const { pod } = state.info;
  const add = (plugin: keyof typeof WEIGHTS, score: (node: NodeInfo) => number): void =>
    addScores(totals, candidates.map(score), WEIGHTS[plugin]);
  if (candidates.some(({ taints }) => taints.some(isSoft))) add('taints', (node) => -dislikes(state, node));
  if (pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution) {
    add('nodeAffinity', ({ node }) => nodePreference(pod, node));
  }
  if (state.affinity.hasPreference) add('podAffinity', (node) => state.affinity.preference(node));
  if (state.spread.hasPreference) add('spread', (node) => -state.spread.crowding(node));
  let best = 0;
  for (let index = 1; index < totals.length; index++) {
    if ((totals[index] ?? 0) > (totals[best] ?? 0)) best = index;
  }
  return candidates[best];
}

/** Normalises raw scores to 0…100, like the plugins, and adds them. */
function addScores(totals: number[], raw: readonly number[], weight: number): void {
  const finite = raw.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  if (!(high > low) && finite.length === raw.length) return;
  raw.forEach((value, index) => {
    const share = !Number.isFinite(value) ? 0 : high > low ? (value - low) / (high - low) : 1;
    totals[index] = (totals[index] ?? 0) + weight * HIGHEST * share;
  });
}

function roomOn({ info }: CycleState, node: NodeInfo): number {
  const share = (resource: string): number =>
    shareUsed(node.used[resource] ?? 0, info.requests[resource] ?? 0, node.allocatable[resource] ?? 0);
  return roomScore({ cpu: share('cpu'), memory: share('memory') });
}

const isSoft = ({ effect }: Taint): boolean => effect === 'PreferNoSchedule';

/** Returns the number of PreferNoSchedule taints that the pod does not tolerate. */
const dislikes = ({ info: { pod } }: CycleState, { taints }: NodeInfo): number =>
  taints.filter((taint) => isSoft(taint) && !isTolerated(taint, pod.spec?.tolerations)).length;
