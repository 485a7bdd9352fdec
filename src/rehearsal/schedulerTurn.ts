/** Where kube-scheduler binds waiting pods at once, before any plan: what fits on a node that exists gets the best one. */
import { Kinds, type Pod } from '../api/kinds.ts';
import { loadOf } from '../disruption/podValues.ts';
import { isFree } from '../disruption/schedulerReplay.ts';
import { presentRooms, SchedulerRooms } from '../disruption/schedulerRooms.ts';
import { podKey } from '../pods/podKey.ts';
import { carryOut } from './carryOut.ts';
import { objectsOf, type ClusterObjects } from './clusterObjects.ts';
import type { Rehearsal } from './rehearse.ts';

type Places = readonly { readonly node: string; readonly pods: readonly string[] }[];

/**
 * Empty where a waiting pod has rules of its own: then the plan says where pods go. Pods that are `ending` hold their room
 * while the others are bound, and give it to those that found none.
 */
function schedulerPlaces({ moment, pass }: Rehearsal, ending: readonly Pod[]): Places {
  const waiting = [...moment.demand.waiting];
  if (waiting.length === 0 || !waiting.every(isFree)) return [];
  const { all, places } = presentRooms(pass.views);
  const nodes = [...places.keys()];
  const found = new Map<string, string[]>();
  const bind = (rooms: SchedulerRooms, pods: readonly Pod[]): readonly Pod[] =>
    pods.filter((pod) => {
      const load = loadOf(pod);
      const place = rooms.best(pod, load);
      if (place === undefined) return true;
      rooms.put(place, load);
      const node = nodes[place] ?? '';
      found.set(node, [...(found.get(node) ?? []), podKey(pod)]);
      return false;
    });
  const held = new SchedulerRooms(all);
  for (const pod of ending) {
    const place = places.get(pod.spec?.nodeName ?? '');
    if (place !== undefined) held.put(place, loadOf(pod));
  }
  const left = bind(held, inOrder(waiting));
  if (left.length > 0 && ending.length > 0) {
    const freed = new SchedulerRooms(all);
    const bound = new Map([...found].flatMap(([node, pods]) => pods.map((pod) => [pod, node] as const)));
    for (const pod of waiting) {
      const place = places.get(bound.get(podKey(pod)) ?? '');
      if (place !== undefined) freed.put(place, loadOf(pod));
    }
    bind(freed, left);
  }
  return [...found].map(([node, pods]) => ({ node, pods }));
}

const inOrder = (pods: readonly Pod[]): readonly Pod[] =>
  pods.toSorted((one, other) => (other.spec?.priority ?? 0) - (one.spec?.priority ?? 0));

/** The cluster after that; the same objects when nothing is bound. */
export function afterScheduler(now: Rehearsal, objects: ClusterObjects, ending: readonly Pod[] = []): ClusterObjects {
  const onExisting = schedulerPlaces(now, ending);
  return onExisting.length === 0
    ? objects
    : carryOut(objects, { planned: [], onExisting, gone: [] }, now.pass.pools, '');
}

/** Pods that were there before, and are not any more. */
export function endingPods(before: ClusterObjects, after: ClusterObjects): readonly Pod[] {
  const left = new Set(objectsOf(after, Kinds.Pod).map(podKey));
  return objectsOf(before, Kinds.Pod).filter((pod) => !left.has(podKey(pod)));
}
