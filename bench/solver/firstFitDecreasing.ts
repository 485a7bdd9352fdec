/**
 * Price-blind packing, as Karpenter does it: largest pods first, each into the emptiest open node whose pods would
 * still fit some instance type; at the end each node becomes the cheapest instance type that holds it. It keeps what
 * the bench's workloads ask for: spread over zones, and replicas that avoid each other's node.
 */
import type { Pod } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import { demandOf, type Machine, type Vector } from './offer.ts';

export interface Packing {
  readonly nodes: number;
  readonly pricePerHour: number;
  readonly unplaced: number;
}

interface Bin {
  readonly used: [number, number, number];
  zone: string | undefined;
  readonly apps: Set<string>;
}

export function firstFitDecreasing(pods: readonly Pod[], machines: readonly Machine[]): Packing {
  const rooms = largestRooms(machines);
  const sorted = pods
    .map((pod) => ({ pod, demand: demandOf(pod) }))
    .sort((left, right) => right.demand[0] - left.demand[0] || right.demand[1] - left.demand[1]);
  const zones = new ZoneCounts();
  const bins: Bin[] = [];
  let unplaced = 0;
  for (const { pod, demand } of sorted) {
    const app = pod.metadata.labels?.['app'] ?? '';
    const zone = isZonal(pod) ? zones.least(app) : undefined;
    const alone = pod.spec?.affinity?.podAntiAffinity !== undefined;
    let bin: Bin | undefined;
    for (const open of bins) {
      if (bin !== undefined && open.used[2] >= bin.used[2]) continue;
      if (zone !== undefined && open.zone !== undefined && open.zone !== zone) continue;
      if (alone && open.apps.has(app)) continue;
      if (rooms.some((room) => fitsInto(open.used, demand, room))) bin = open;
    }
    if (bin === undefined) {
      if (!rooms.some((room) => covers(room, demand))) {
        unplaced += 1;
        continue;
      }
      bin = { used: [0, 0, 0], zone: undefined, apps: new Set() };
      bins.push(bin);
    }
    for (const index of [0, 1, 2] as const) bin.used[index] += demand[index];
    bin.zone ??= zone;
    bin.apps.add(app);
    if (zone !== undefined) zones.add(app, zone);
  }
  const byPrice = [...machines].sort((left, right) => left.price - right.price);
  const prices = bins.map(({ used }) => byPrice.find(({ room }) => covers(room, used))?.price ?? Number.NaN);
  return { nodes: bins.length, pricePerHour: prices.reduce((sum, price) => sum + price, 0), unplaced };
}

/** Rooms that no other covers: what fits some node fits one of these. */
function largestRooms(machines: readonly Machine[]): readonly Vector[] {
  const rooms = [...new Map(machines.map(({ room }) => [room.join(), room])).values()];
  return rooms.filter((one) => !rooms.some((other) => other !== one && covers(other, one)));
}

class ZoneCounts {
  private readonly counts = new Map<string, Map<string, number>>();

  least(app: string): string {
    let counts = this.counts.get(app);
    if (counts === undefined) {
      counts = new Map(['1', '2', '3'].map((zone) => [zone, 0]));
      this.counts.set(app, counts);
    }
    return [...counts].reduce((least, entry) => (entry[1] < least[1] ? entry : least))[0];
  }

  add(app: string, zone: string): void {
    const counts = this.counts.get(app);
    counts?.set(zone, (counts.get(zone) ?? 0) + 1);
  }
}

function isZonal(pod: Pod): boolean {
  return pod.spec?.topologySpreadConstraints?.some(({ topologyKey }) => topologyKey === Labels.zone) ?? false;
}

function covers(room: Vector, used: Vector): boolean {
  return room[0] >= used[0] && room[1] >= used[1] && room[2] >= used[2];
}

function fitsInto(used: Vector, demand: Vector, room: Vector): boolean {
  return used[0] + demand[0] <= room[0] && used[1] + demand[1] <= room[1] && used[2] + demand[2] <= room[2];
}
