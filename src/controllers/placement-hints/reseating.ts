/**
 * Changes the planned nodes of pods when one node's room was taken by an unexpected pod: the room planned for that pod
 * is free, and pods that are not running yet can be exchanged until all fit. New nodes are bought only for pods that
 * still find no room.
 */
import type { Pod } from '../../api/kinds.ts';
import type { Cluster } from '../../cluster/cluster.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import type { Place } from '../../cluster/placements.ts';
import { matchesNodeAffinity } from '../../pods/nodeSelector.ts';
import { hostPortsOf } from '../../pods/hostPorts.ts';
import { podKind } from '../../pods/podKind.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import { addResources, fits, quantityOf, subtractResources, type Resources } from '../../units/resources.ts';
import { exchange, exchangeOverMany, type Neighbour, type Seat, type Table } from './exchange.ts';
import { SpreadMoves } from './spreadMoves.ts';

export interface ReseatingPorts {
  readonly cluster: Cluster;
  /** Free resources after running pods and expected daemons. */
  readonly freeOn: (view: NodeView) => Resources;
}

/** Most nodes asked for room, including launching ones; those with most room first. */
const MOST_PARTNERS = 24;

/** Nodes that each give a little, where none can help alone. */
const MOST_NEIGHBOURS = 40;

/** Gives places on this node to others when the pods expected on it have no room there. Returns how many pods moved. */
export function reseat({ cluster, freeOn }: ReseatingPorts, nodeName: string, now: number): number {
  const { places } = cluster;
  const views = cluster.snapshot().nodes.filter(({ deleting }) => !deleting);
  const crowded = views.find(({ name, node }) => name === nodeName && node !== undefined);
  if (crowded === undefined) return 0;
  const seated = seatsOn(cluster, crowded.name, now);
  if (seated.length === 0 || fits(demandOf(seated), freeOn(crowded))) return 0;
  const free = freeOn(crowded);
  const spreads = new SpreadMoves(cluster, views);
  const over = subtractResources(demandOf(seated), free);
  const others: readonly Partner[] = views
    .filter((view) => view !== crowded)
    .map((view) => ({ view, room: freeOn(view), own: seatsOn(cluster, view.name, now) }))
    .map((partner) => ({ ...partner, left: subtractResources(partner.room, demandOf(partner.own)) }))
    .sort((one, other) => shareOf(other.left, other.view) - shareOf(one.left, one.view));
  // Two nodes that hold too much between them cannot help each other.
  const partners = others.filter(({ left }) => fits(over, left)).slice(0, MOST_PARTNERS);
  for (const { view, room, own } of partners) {
    const found = exchange(tableOf(seated, free, spreads, crowded, view), tableOf(own, room, spreads, view, crowded));
    if (found === undefined) continue;
    for (const pod of found.there) places.move(pod, view.name);
    for (const pod of found.here) places.move(pod, crowded.name);
    return found.there.length + found.here.length;
  }
  const moves = overThree(seated, over, spreads, crowded, others.slice(0, MOST_PARTNERS));
  for (const { pod, to } of moves) places.move(pod, to);
  if (moves.length > 0) return moves.length;
  const open = new Set(seated.flatMap((place) => (place.open ? [place.pod] : [])));
  const neighbours = others
    .slice(0, MOST_NEIGHBOURS)
    .map((partner) => neighbourOf(partner, spreads, crowded, (pod) => !open.has(pod)));
  const small = exchangeOverMany(seatsFrom(seated, free), neighbours);
  for (const { of: pod, to } of small) places.move(pod, to ?? crowded.name);
  return small.length;
}

/** The pods of a node, none of which moves for now. */
function seatsFrom(places: readonly Place[], free: Resources): Table<Pod> {
  const seats = places.map(({ pod }): Seat<Pod> => ({
    of: pod,
    kind: podKind(pod).kind,
    requests: podRequests(pod),
    mayMove: false,
  }));
  return { free, seats };
}

/** Several pods may move: only where no spread tells the nodes apart, for what holds for one need not hold for others. */
function neighbourOf(
  { view, room, own }: Partner,
  spreads: SpreadMoves,
  crowded: NodeView,
  mayLeave: (pod: Pod) => boolean,
): Neighbour<Pod> {
  const mayChange = (pod: Pod, from: NodeView, to: NodeView): boolean =>
    spreads.areAlike(pod, from, to) && mayGo(pod, spreads, from, to);
  const going = new Map(own.map(({ pod, open }) => [pod, !open && mayChange(pod, view, crowded)]));
  const { free, seats } = seatsFrom(own, room);
  return {
    name: view.name,
    table: { free, seats: seats.map((seat) => ({ ...seat, mayMove: going.get(seat.of) === true })) },
    takes: ({ of: pod }) => mayLeave(pod) && mayChange(pod, crowded, view),
  };
}

/** Moves one pod to a second node and another one from there to a third; none if there is no such pair. */
function overThree(
  seated: readonly Place[],
  over: Resources,
  spreads: SpreadMoves,
  crowded: NodeView,
  partners: readonly Partner[],
): readonly { readonly pod: Pod; readonly to: string }[] {
  for (const { pod, open } of seated) {
    const requests = podRequests(pod);
    if (open || !fits(over, requests)) continue;
    for (const { view, own, left } of partners) {
      if (!mayGo(pod, spreads, crowded, view)) continue;
      for (const next of own) {
        const freed = podRequests(next.pod);
        if (next.open || !fits(requests, addResources(left, freed))) continue;
        const last = partners.find(
          (each) => each.view !== view && fits(freed, each.left) && mayGo(next.pod, spreads, view, each.view),
        );
        if (last === undefined) continue;
        return [
          { pod: next.pod, to: last.view.name },
          { pod, to: view.name },
        ];
      }
    }
  }
  return [];
}

/** A node to which pods may be moved. */
interface Partner {
  readonly view: NodeView;
  readonly room: Resources;
  /** Pods that wait for it. */
  readonly own: readonly Place[];
  /** Free resources after these pods. */
  readonly left: Resources;
}

/** Pods that wait for this node. */
function seatsOn(cluster: Cluster, name: string, now: number): readonly Place[] {
  const { places } = cluster;
  return places.on(name).filter(({ pod }) => !cluster.pod(pod.metadata)?.spec?.nodeName && places.of(pod, now));
}

const demandOf = (places: readonly Place[]): Resources => addResources(...places.map(({ pod }) => podRequests(pod)));

function tableOf(
  places: readonly Place[],
  free: Resources,
  spreads: SpreadMoves,
  from: NodeView,
  other: NodeView,
): Table<Pod> {
  const crossing = new Set<string>();
  const seats = places.map(({ pod, open }): Seat<Pod> => {
    const { kind } = podKind(pod);
    // One of a kind may go to another domain: what holds for it need not hold for a second one.
    const isAlike = spreads.areAlike(pod, from, other);
    const mayMove = !open && (isAlike || !crossing.has(kind)) && mayGo(pod, spreads, from, other);
    if (mayMove && !isAlike) crossing.add(kind);
    return { of: pod, kind, requests: podRequests(pod), mayMove };
  });
  return { free, seats };
}

function mayGo(pod: Pod, spreads: SpreadMoves, from: NodeView, to: NodeView): boolean {
  return isSimple(pod) && spreads.mayGo(pod, from, to) && accepts(to, pod);
}

/** Its place does not matter to other pods, nor theirs to it. */
function isSimple(pod: Pod): boolean {
  const { affinity, volumes = [] } = pod.spec ?? {};
  if (affinity?.podAffinity ?? affinity?.podAntiAffinity) return false;
  if (volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral)) return false;
  return hostPortsOf(pod).length === 0;
}

function accepts({ node, taints }: NodeView, pod: Pod): boolean {
  const hard = taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
  if (untoleratedTaints(hard, pod.spec?.tolerations).length > 0) return false;
  // Not all labels of a node that has not joined are known.
  return node === undefined ? isFree(pod) : matchesNodeAffinity(pod, node);
}

/** Whether the pod does not select on node labels. */
function isFree({ spec }: Pod): boolean {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined && Object.keys(spec?.nodeSelector ?? {}).length === 0;
}

/** The least free share of a node over cpu and memory. */
function shareOf(left: Resources, { allocatable }: NodeView): number {
  const share = (name: string): number =>
    quantityOf(left, name).milliValue() / Math.max(1, quantityOf(allocatable, name).milliValue());
  return Math.min(share('cpu'), share('memory'));
}
