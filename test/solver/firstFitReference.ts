/**
 * First-fit-decreasing, blind to prices, written down plainly: the largest pod first, onto the first node that is there,
 * else the first open node that some machine within the limits could still be, else a new one; machines are bought at
 * the end. In: pods with few kinds of constraints; out: what it would pay, and who waits. Shares no code with the solver.
 */
import type { InstanceType } from '../../src/cloud/instanceType.ts';

export interface PlainPod {
  readonly name: string;
  readonly millicores: number;
  readonly mebibytes: number;
  readonly app: string;
  /** Must be in this zone. */
  readonly zone: string | undefined;
  /** Pods of the app are spread over zones with a skew of one. */
  readonly isSpread: boolean;
  /** No two pods of the app on one node. */
  readonly isApart: boolean;
}

export interface PlainNode {
  readonly zone: string;
  readonly millicores: number;
  readonly mebibytes: number;
  readonly pods: number;
}

export interface PlainLimits {
  readonly cpu: number;
  readonly nodes: number;
}

interface Open {
  zone: string | undefined;
  millicores: number;
  mebibytes: number;
  pods: number;
  readonly apps: Set<string>;
  cpuCapacity: number;
}

export function firstFitReference(
  pods: readonly PlainPod[],
  types: readonly InstanceType[],
  zones: readonly string[],
  existing: readonly PlainNode[],
  limits: PlainLimits,
): { price: number; waiting: number } {
  const rooms = existing.map((node) => ({ ...node, apps: new Set<string>() }));
  const open: Open[] = [];
  const counts = new Map<string, Map<string, number>>();
  let waiting = 0;
  const countsOf = (app: string): Map<string, number> => {
    const known = counts.get(app) ?? new Map(zones.map((zone) => [zone, 0]));
    counts.set(app, known);
    return known;
  };
  const allowed = (pod: PlainPod): string[] => {
    const own = pod.zone === undefined ? zones : [pod.zone];
    if (!pod.isSpread) return [...own];
    const of = countsOf(pod.app);
    // With a zone of his own a pod compares only that zone.
    const least = Math.min(...own.map((zone) => of.get(zone)!));
    return own.filter((zone) => of.get(zone)! === least);
  };
  const cheapest = (node: Open, cpuLeft: number): { price: number; cpu: number } | undefined => {
    let best: { price: number; cpu: number } | undefined;
    for (const { allocatable, capacity, offerings } of types) {
      const cpu = capacity['cpu']!.value();
      if (cpu > cpuLeft || node.pods > 8) continue;
      if (node.millicores > allocatable['cpu']!.milliValue()) continue;
      if (node.mebibytes * 2 ** 20 > allocatable['memory']!.value()) continue;
      for (const each of offerings) {
        if (!each.available || (node.zone !== undefined && node.zone !== each.zone)) continue;
        if (best === undefined || each.price < best.price) best = { price: each.price, cpu };
      }
    }
    return best;
  };
  const sorted = [...pods].sort(
    (left, right) =>
      right.millicores - left.millicores || right.mebibytes - left.mebibytes || (left.name < right.name ? -1 : 1),
  );
  for (const pod of sorted) {
    const wanted = allowed(pod);
    const record = (zone: string | undefined): void => {
      if (pod.isSpread && zone !== undefined) countsOf(pod.app).set(zone, countsOf(pod.app).get(zone)! + 1);
    };
    const room = rooms.find(
      (node) =>
        wanted.includes(node.zone) &&
        node.millicores >= pod.millicores &&
        node.mebibytes >= pod.mebibytes &&
        node.pods >= 1 &&
        !(pod.isApart && node.apps.has(pod.app)),
    );
    if (room !== undefined) {
      Object.assign(room, {
        millicores: room.millicores - pod.millicores,
        mebibytes: room.mebibytes - pod.mebibytes,
        pods: room.pods - 1,
      });
      room.apps.add(pod.app);
      record(room.zone);
      continue;
    }
    const total = open.reduce((sum, node) => sum + node.cpuCapacity, 0);
    const grown = (node: Open): Open | undefined => {
      if (pod.isApart && node.apps.has(pod.app)) return undefined;
      const needsZone = pod.isSpread || pod.zone !== undefined;
      for (const zone of node.zone === undefined ? (needsZone ? wanted : [undefined]) : [node.zone]) {
        if (zone !== undefined && needsZone && !wanted.includes(zone)) continue;
        const next: Open = {
          zone,
          millicores: node.millicores + pod.millicores,
          mebibytes: node.mebibytes + pod.mebibytes,
          pods: node.pods + 1,
          apps: new Set([...node.apps, pod.app]),
          cpuCapacity: 0,
        };
        const machine = cheapest(next, limits.cpu - total + node.cpuCapacity);
        if (machine !== undefined) return { ...next, cpuCapacity: machine.cpu };
      }
      return undefined;
    };
    const at = open.findIndex((node) => grown(node) !== undefined);
    const empty: Open = { zone: undefined, millicores: 0, mebibytes: 0, pods: 0, apps: new Set(), cpuCapacity: 0 };
    const fresh = at < 0 && open.length < limits.nodes ? grown(empty) : undefined;
    const chosen = at >= 0 ? grown(open[at]!) : fresh;
    if (chosen === undefined) {
      waiting += 1;
      continue;
    }
    if (at >= 0) open[at] = chosen;
    else open.push(chosen);
    record(chosen.zone);
  }
  const price = open.reduce((sum, node) => sum + (cheapest(node, node.cpuCapacity)?.price ?? 0), 0);
  return { price, waiting };
}
