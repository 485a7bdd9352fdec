import { Labels } from '../api/labels.ts';
import type { Pod } from '../api/kinds.ts';
import { HostPortUsage, hostPortsOf } from '../constraints/hostPorts.ts';
import { Requirements } from '../constraints/requirements.ts';
import { untoleratedTaints } from '../constraints/taints.ts';
import { fits, hasNegative, subtractResources, type Resources } from '../units/resources.ts';
import { podClasses, unsupportedFeature, type PodClass } from './podClass.ts';
import { PoolPacking } from './poolPacking.ts';
import type { ExistingNode, NewNode, Problem, Solution, UnplacedReason } from './problem.ts';

/**
 * Places pods at least cost: first on machines that are there already, then on new ones. Pure: the same problem has
 * the same solution, whatever the order of its lists.
 */
export function solve(problem: Problem): Solution {
  const unplaced: { pod: Pod; reason: UnplacedReason }[] = [];
  const supported = problem.pods.filter((pod) => {
    const feature = unsupportedFeature(pod);
    if (feature !== undefined) unplaced.push({ pod, reason: { kind: 'unsupported', feature } });
    return feature === undefined;
  });

  const rooms = existingRooms(problem.nodes);
  let left = podClasses(supported).flatMap((podClass) => placeOnExisting(podClass, rooms));
  const packings = problem.pools.map((offer) => new PoolPacking(offer, problem.daemons));
  const newNodes: NewNode[] = [];
  for (const packing of packings) {
    const result = packing.pack(left);
    newNodes.push(...result.nodes);
    left = result.left;
  }

  for (const podClass of left) {
    const refusals = packings.flatMap((packing) => packing.refusal(podClass) ?? []);
    const reason: UnplacedReason = packings.length === 0 ? { kind: 'no-pools' } : { kind: 'refused', pools: refusals };
    unplaced.push(...podClass.pods.map((pod) => ({ pod, reason })));
  }
  return {
    onExisting: rooms
      .filter(({ placed }) => placed.length > 0)
      .map(({ node, placed }) => ({ node: node.name, pods: placed })),
    newNodes,
    unplaced,
    pricePerHour: newNodes.reduce((sum, { alternatives }) => sum + (alternatives[0]?.pricePerHour ?? 0), 0),
  };
}

interface Room {
  readonly node: ExistingNode;
  readonly requirements: Requirements;
  readonly placed: Pod[];
  free: Resources;
  ports: HostPortUsage;
}

/** Machines that are up come before those on their way, each in order of name. */
function existingRooms(nodes: readonly ExistingNode[]): Room[] {
  return [...nodes]
    .sort((left, right) => Number(right.initialized) - Number(left.initialized) || (left.name < right.name ? -1 : 1))
    .map((node) => ({
      node,
      requirements: Requirements.fromLabels({ [Labels.hostname]: node.name, ...node.labels }),
      placed: [],
      free: node.free,
      ports: node.pods.reduce((usage, pod) => usage.with(keyOf(pod), hostPortsOf(pod)), HostPortUsage.empty),
    }));
}

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** Out: the class with the pods that found no room; nothing when all did. */
function placeOnExisting(podClass: PodClass, rooms: readonly Room[]): PodClass[] {
  const waiting = [...podClass.pods];
  for (const room of rooms) {
    if (waiting.length === 0) break;
    const hard = untoleratedTaints(room.node.taints, podClass.tolerations).filter(
      ({ effect }) => effect !== 'PreferNoSchedule',
    );
    if (hard.length > 0 || hasNegative(room.free) || !room.requirements.isCompatible(podClass.requirements)) continue;
    let [pod] = waiting;
    while (pod && fits(podClass.requests, room.free) && !room.ports.conflict(keyOf(pod), podClass.hostPorts)) {
      room.placed.push(pod);
      room.free = subtractResources(room.free, podClass.requests);
      room.ports = room.ports.with(keyOf(pod), podClass.hostPorts);
      waiting.shift();
      [pod] = waiting;
    }
  }
  return waiting.length === 0 ? [] : [{ ...podClass, pods: waiting }];
}
