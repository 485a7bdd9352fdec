/**
 * Estimates where kube-scheduler will put the pods of removed nodes: they are evicted largest first, and each goes to
 * the node with the highest score, not to the planned one. Pods that find no room then need a new node, which the plan
 * does not count.
 */
import type { Pod } from '../api/kinds.ts';
import { podKey } from '../pods/podKey.ts';
import type { PlannedNode } from '../solver/problem.ts';
import { quantityOf } from '../units/resources.ts';
import { typesByName } from './candidate.ts';
import type { Pass } from './method.ts';
import type { Part } from './parts.ts';
import { loadOf, PodValues, sumOf, toLoad, type Load } from './podValues.ts';
import { presentRooms, SchedulerRooms, type PresentRooms, type Room } from './schedulerRooms.ts';

/** Limit on (pod, node) checks: more would block other loops. */
const MOST_LOOKS = 500_000;
/** A node bought for a few pods is a worse fit than one planned with others. */
const POOR_FIT = 1.25;

const NO_PLACES: ReadonlyMap<string, number> = new Map();

/** Dollars per hour of nodes needed in addition to the planned ones; 0 where that cannot be estimated. */
export function displacedPrice(parts: readonly Part[], pass: Pass): number {
  const displaced = displacedPods(parts, pass);
  if (displaced.length === 0) return 0;
  const demand = sumOf(displaced.map(loadOf));
  return POOR_FIT * new PodValues(pass.pools.values(), demand).of(demand);
}

function displacedPods(parts: readonly Part[], pass: Pass): readonly Pod[] {
  const candidates = parts.flatMap((part) => part.candidates);
  const pods = candidates.flatMap(({ movable }) => movable);
  const present = presentRooms(pass.views);
  const going = new Set(candidates.flatMap(({ view }) => present.places.get(view.name) ?? []));
  const coming = parts.flatMap(({ plannedNodes }) => plannedNodes);
  const free = pods.filter(isFree);
  const planned = free.length === pods.length ? NO_PLACES : plannedPlaces(parts, coming, present);
  // Shortcut: with as many nodes that hold the largest pod as there are pods, even the last pod finds room.
  if (present.untouched.has(pods.length, largest(free), going)) {
    return pods.filter((pod) => !isFree(pod) && !planned.has(podKey(pod)));
  }
  if (pods.length * pass.views.length > MOST_LOOKS) return [];
  const rooms = new SchedulerRooms([...present.all, ...coming.map((plan) => roomThatComes(plan, pass))]);
  for (const place of going) rooms.close(place);
  return inOrder(pods).filter((pod) => {
    const load = loadOf(pod);
    const place = isFree(pod) ? rooms.best(pod, load) : planned.get(podKey(pod));
    if (place !== undefined) rooms.put(place, load);
    return place === undefined;
  });
}

function roomThatComes({ pool, alternatives }: PlannedNode, { pools }: Pass): Room {
  const catalogue = pools.get(pool);
  const type = catalogue && typesByName(catalogue.instanceTypes).get(alternatives[0]?.instanceType ?? '');
  const taints = catalogue?.pool.spec.template.spec.taints ?? [];
  const allocatable = toLoad(type?.allocatable ?? {});
  const pods = quantityOf(type?.allocatable ?? {}, 'pods').value();
  return { allocatable, used: [0, 0], pods, taints };
}

/** Index of the planned room of each pod: existing nodes come before planned ones. */
function plannedPlaces(
  parts: readonly Part[],
  coming: readonly PlannedNode[],
  { all, places }: PresentRooms,
): ReadonlyMap<string, number> {
  const planned = new Map<string, number>();
  for (const { node, pods } of parts.flatMap(({ onExisting }) => onExisting)) {
    const place = places.get(node);
    if (place !== undefined) for (const pod of pods) planned.set(pod, place);
  }
  coming.forEach(({ pods }, at) => {
    for (const pod of pods) planned.set(pod, all.length + at);
  });
  return planned;
}

/** The maximum request of any pod, per resource. */
function largest(pods: readonly Pod[]): Load {
  let [cpu, memory] = [0, 0];
  for (const pod of pods) {
    const load = loadOf(pod);
    cpu = Math.max(cpu, load[0]);
    memory = Math.max(memory, load[1]);
  }
  return [cpu, memory];
}

/** The pod may go wherever there is room; others are assumed to go where planned. */
export function isFree({ spec }: Pod): boolean {
  const { nodeSelector, affinity, topologySpreadConstraints, volumes = [] } = spec ?? {};
  if (nodeSelector !== undefined || affinity !== undefined || topologySpreadConstraints !== undefined) return false;
  return volumes.every(({ persistentVolumeClaim, ephemeral }) => !persistentVolumeClaim && !ephemeral);
}

/** In eviction order: higher priority first, then larger first. */
function inOrder(pods: readonly Pod[]): readonly Pod[] {
  const [cpu, memory] = sumOf(pods.map(loadOf));
  const size = (pod: Pod): number => loadOf(pod)[0] / (cpu || 1) + loadOf(pod)[1] / (memory || 1);
  const sized = pods.map((pod) => ({ pod, priority: pod.spec?.priority ?? 0, size: size(pod) }));
  return sized.sort((left, right) => right.priority - left.priority || right.size - left.size).map(({ pod }) => pod);
}
