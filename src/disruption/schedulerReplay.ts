/**
 * Where kube-scheduler will put the pods of nodes that go, as far as that can be told: evicted largest first, each goes to
 * the node that it rates highest, not to the one that the plan has for it. Pods that find no room then make a new node
 * necessary, which the plan does not count.
 */
import type { Pod } from '../api/kinds.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import { roomScore, shareUsed } from '../pods/nodeScore.ts';
import { podKey } from '../pods/podKey.ts';
import { isTolerated } from '../pods/taints.ts';
import { quantityOf } from '../units/resources.ts';
import { typesByName } from './candidate.ts';
import type { Pass } from './method.ts';
import type { Part } from './parts.ts';
import { loadOf, PodValues, sumOf, toLoad, type Load } from './podValues.ts';

/** Looks at a node for a pod: beyond so many the replay would hold up other loops. */
const MOST_LOOKS = 500_000;
/** A node that is bought for a few pods fits them less well than one that is planned with others. */
const POOR_FIT = 1.25;

/** A node while pods come to it. */
interface Room {
  readonly name: string;
  readonly allocatable: Load;
  readonly taints: NodeView['taints'];
  cpu: number;
  memory: number;
  pods: number;
}

/** Dollars per hour of what will have to be bought besides the planned nodes; 0 where that cannot be told. */
export function displacedPrice(parts: readonly Part[], pass: Pass): number {
  const candidates = parts.flatMap((part) => part.candidates);
  const pods = candidates.flatMap(({ movable }) => movable);
  if (pods.length * pass.views.length > MOST_LOOKS) return 0;
  const going = new Set(candidates.map(({ view }) => view.name));
  const rooms = [...roomsThatStay(pass, going), ...parts.flatMap((part) => roomsThatCome(part, pass))];
  const planned = plannedRooms(parts, rooms);
  const displaced: Load[] = [];
  for (const pod of inOrder(pods)) {
    const [cpu, memory] = loadOf(pod);
    const room = isFree(pod) ? bestRoom(rooms, pod, cpu, memory) : planned.get(podKey(pod));
    if (room === undefined) {
      displaced.push([cpu, memory]);
      continue;
    }
    room.cpu += cpu;
    room.memory += memory;
    room.pods -= 1;
  }
  if (displaced.length === 0) return 0;
  const demand = sumOf(displaced);
  return POOR_FIT * new PodValues(pass.pools.values(), demand).of(demand);
}

function roomsThatStay({ views }: Pass, going: ReadonlySet<string>): Room[] {
  return views
    .filter(({ name, deleting, initialized }) => initialized && !deleting && !going.has(name))
    .map(({ name, allocatable, requested, taints, pods }) => {
      const [cpu, memory] = toLoad(requested);
      const left = quantityOf(allocatable, 'pods').value() - pods.length;
      return { name, allocatable: toLoad(allocatable), taints, cpu, memory, pods: left };
    });
}

function roomsThatCome({ plannedNodes }: Part, { pools }: Pass): Room[] {
  return plannedNodes.flatMap(({ pool, alternatives, pods }, at) => {
    const catalogue = pools.get(pool);
    const type = catalogue && typesByName(catalogue.instanceTypes).get(alternatives[0]?.instanceType ?? '');
    if (type === undefined) return [];
    const taints = catalogue?.pool.spec.template.spec.taints ?? [];
    const limit = quantityOf(type.allocatable, 'pods').value();
    const name = pods[0] ?? String(at);
    return [{ name, allocatable: toLoad(type.allocatable), taints, cpu: 0, memory: 0, pods: limit }];
  });
}

/** The room that the plan has for each pod; a planned node goes by the name of its first pod. */
function plannedRooms(parts: readonly Part[], rooms: readonly Room[]): ReadonlyMap<string, Room> {
  const byName = new Map(rooms.map((room) => [room.name, room]));
  const planned = new Map<string, Room>();
  for (const { onExisting, plannedNodes } of parts) {
    for (const { node, pods } of [...onExisting, ...plannedNodes.map(({ pods }) => ({ node: pods[0] ?? '', pods }))]) {
      const room = byName.get(node);
      if (room !== undefined) for (const pod of pods) planned.set(pod, room);
    }
  }
  return planned;
}

/** Goes wherever there is room; the others are taken to go where they are planned. */
function isFree({ spec }: Pod): boolean {
  const { nodeSelector, affinity, topologySpreadConstraints, volumes = [] } = spec ?? {};
  if (nodeSelector !== undefined || affinity !== undefined || topologySpreadConstraints !== undefined) return false;
  return volumes.every(({ persistentVolumeClaim, ephemeral }) => !persistentVolumeClaim && !ephemeral);
}

function bestRoom(rooms: readonly Room[], pod: Pod, cpu: number, memory: number): Room | undefined {
  let best: Room | undefined;
  let highest = -1;
  for (const room of rooms) {
    const [allCpu, allMemory] = room.allocatable;
    if (room.pods < 1 || room.cpu + cpu > allCpu || room.memory + memory > allMemory) continue;
    const score = roomScore({
      cpu: shareUsed(room.cpu, cpu, allCpu),
      memory: shareUsed(room.memory, memory, allMemory),
    });
    if (score <= highest || !room.taints.every((taint) => isTolerated(taint, pod.spec?.tolerations))) continue;
    highest = score;
    best = room;
  }
  return best;
}

/** As they are evicted: those of high priority first, then by size. */
function inOrder(pods: readonly Pod[]): readonly Pod[] {
  const [cpu, memory] = sumOf(pods.map(loadOf));
  const size = (pod: Pod): number => loadOf(pod)[0] / (cpu || 1) + loadOf(pod)[1] / (memory || 1);
  const sized = pods.map((pod) => ({ pod, priority: pod.spec?.priority ?? 0, size: size(pod) }));
  return sized.sort((left, right) => right.priority - left.priority || right.size - left.size).map(({ pod }) => pod);
}
