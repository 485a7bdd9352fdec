/** What the pods on a planned node still allow there: how many more of each kind, which affinities, and which ports. */
import { hostPortsClash } from '../../pods/hostPorts.ts';
import { UNLIMITED } from '../model/hostCounts.ts';
import type { PodClass, Variant } from '../model/podClass.ts';
import type { Domains } from './domains.ts';
import type { OpenNode } from './openNode.ts';

type HostCounts = NonNullable<OpenNode['host']>;

const NONE = { count: 0, limit: UNLIMITED } as const;

/** Whether a pod may be placed on the node by its own limits and by those of the pods already there. */
export function nodeAllows(domains: Domains, podClass: PodClass, variant: Variant, node: OpenNode): boolean {
  const host = hostOf(domains, node);
  for (const { counter, max } of variant.hostLimits) if ((host.get(counter) ?? NONE).count > max) return false;
  for (const counter of podClass.hostAdds) {
    const own = variant.hostLimits.find((limit) => limit.counter === counter)?.max ?? UNLIMITED;
    const { count, limit } = host.get(counter) ?? NONE;
    if (count >= Math.min(own, limit)) return false;
  }
  for (const affinity of variant.hostAffinity) {
    if (!domains.allowsCompany(affinity, node, (host.get(affinity.counter) ?? NONE).count)) return false;
  }
  const { hostPorts } = podClass.shape;
  return !node.ports.some((taken) => hostPorts.some((port) => hostPortsClash(port, taken)));
}

/** Counts one more pod on the node. If the node has no counts yet, `hostOf` includes the pod when it makes them. */
export function countOnNode(domains: Domains, podClass: PodClass, variant: Variant, { host }: OpenNode): void {
  if (host !== undefined) count(domains, host, podClass, variant, 1);
}

function hostOf(domains: Domains, node: OpenNode): HostCounts {
  if (node.host === undefined) {
    node.host = new Map();
    for (const { podClass, variant, pods } of node.entries) count(domains, node.host, podClass, variant, pods.length);
  }
  return node.host;
}

function count(domains: Domains, host: HostCounts, podClass: PodClass, variant: Variant, pods: number): void {
  const entry = (counter: number): { count: number; limit: number } => {
    const known = host.get(counter) ?? { ...NONE };
    host.set(counter, known);
    return known;
  };
  for (const counter of podClass.hostAdds) entry(counter).count += pods;
  for (const limit of variant.hostLimits) {
    const own = entry(limit.counter);
    own.limit = Math.min(own.limit, domains.othersMax(limit));
  }
}
