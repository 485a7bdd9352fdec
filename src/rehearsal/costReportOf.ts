/** Cost of the nodes of a rehearsal, attributed to pods. */
import type { Pod } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import type { NodeView } from '../cluster/nodeView.ts';
import type { CostReport, CostRow } from '../ledger/costReport.ts';
import { podRequests } from '../pods/podRequests.ts';
import { quantityOf } from '../units/resources.ts';
import { timestamp } from '../units/timestamp.ts';
import { backlogOf } from './explainPoolIn.ts';
import { fatesOf } from './judge.ts';
import { HOURS_PER_MONTH, nodePrice } from './nodeFactsOf.ts';
import type { Rehearsal } from './rehearse.ts';

/** Name of unrequested resources. */
const IDLE = 'idle';

/** A pod costs the share of its node that it requests: the mean of its cpu and memory shares. */
export function costReportOf(rehearsal: Rehearsal, labelKey?: string): CostReport {
  const { pass } = rehearsal;
  const pools = new Tally();
  const namespaces = new Tally();
  const workloads = new Tally();
  const labels = new Tally();
  let spot = 0;
  let idle = 0;
  let total = 0;
  let unpricedNodes = 0;
  let pods = 0;
  const own = pass.views.filter(({ claim }) => claim !== undefined);
  for (const view of own) {
    const known = nodePrice(pass, view);
    if (known === undefined) unpricedNodes += 1;
    const price = known ?? 0;
    total += price;
    if (view.labels[Labels.capacityType] === 'spot') spot += price;
    pods += view.pods.length;
    pools.add(view.nodePool ?? '', price, view.pods.length, 1);
    let left = price;
    for (const pod of view.pods) {
      const part = Math.min(left, price * shareOf(pod, view));
      left -= part;
      namespaces.add(pod.metadata.namespace ?? 'default', part, 1);
      workloads.add(workloadOf(pod), part, 1);
      if (labelKey !== undefined) labels.add(pod.metadata.labels?.[labelKey] ?? '', part, 1);
    }
    idle += left;
  }
  for (const tally of [namespaces, workloads, labels]) if (idle > 0) tally.add(IDLE, idle, 0);
  const backlog = backlogOf(rehearsal, fatesOf(rehearsal));
  const least = Math.min(total, backlog.leastPricePerHour + (total - backlog.pricePerHour));
  return {
    time: timestamp(pass.now),
    nodes: own.length,
    pods,
    pricePerHour: total,
    pricePerMonth: total * HOURS_PER_MONTH,
    spotShare: total === 0 ? 0 : spot / total,
    idleShare: total === 0 ? 0 : idle / total,
    leastPricePerHour: least,
    gapPerHour: total - least,
    unpricedNodes,
    pools: pools.rows(),
    namespaces: namespaces.rows(),
    workloads: workloads.rows(),
    ...(labelKey !== undefined && { labels: { key: labelKey, values: labels.rows() } }),
    backlog: backlog.pools,
  };
}

function shareOf(pod: Pod, view: NodeView): number {
  const { cpu, memory } = sharesOf(pod, view);
  return (cpu + memory) / 2;
}

/** Requests as shares of the node's allocatable resources. */
export function sharesOf(pod: Pod, { allocatable }: NodeView): { readonly cpu: number; readonly memory: number } {
  const requests = podRequests(pod);
  const part = (resource: 'cpu' | 'memory'): number => {
    const all = quantityOf(allocatable, resource).milliValue();
    return all <= 0 ? 0 : quantityOf(requests, resource).milliValue() / all;
  };
  return { cpu: part('cpu'), memory: part('memory') };
}

/** The owner's owner is not known here: for a ReplicaSet, the name without its hash. */
export function workloadOf({ metadata }: Pod): string {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  const { namespace = 'default' } = metadata;
  if (owner === undefined) return `${namespace}/Pod/${metadata.name}`;
  const hash = metadata.labels?.['pod-template-hash'];
  if (owner.kind === 'ReplicaSet' && hash !== undefined && owner.name.endsWith(`-${hash}`)) {
    return `${namespace}/Deployment/${owner.name.slice(0, -hash.length - 1)}`;
  }
  return `${namespace}/${owner.kind}/${owner.name}`;
}

class Tally {
  private readonly sums = new Map<string, { price: number; pods: number; nodes: number }>();

  add(name: string, price: number, pods: number, nodes = 0): void {
    const known = this.sums.get(name) ?? { price: 0, pods: 0, nodes: 0 };
    known.price += price;
    known.pods += pods;
    known.nodes += nodes;
    this.sums.set(name, known);
  }

  rows(): readonly CostRow[] {
    return [...this.sums]
      .map(([name, { price, pods, nodes }]) => ({
        name,
        ...(nodes > 0 && { nodes }),
        pods,
        pricePerHour: price,
        pricePerMonth: price * HOURS_PER_MONTH,
      }))
      .sort((left, right) => right.pricePerHour - left.pricePerHour || (left.name < right.name ? -1 : 1));
  }
}
