import type { Pod } from '../../api/kinds.ts';
import { quantityOf } from '../../units/resources.ts';
import { affinityTerms, matchesTerm, type PodAffinityTerm, type NamespaceLabels } from './affinity.ts';
import type { NodeState } from './nodeState.ts';
import { podRequests } from './podRequests.ts';
import { matchesNodeAffinity } from './nodeAffinity.ts';
import { tolerates } from './tolerations.ts';
import { spreadViolation } from './topologySpread.ts';

/** Everything a filter may look at beside the one node. */
export interface SchedulingContext {
  readonly nodes: readonly NodeState[];
  readonly namespaceLabels: NamespaceLabels;
}

/** A filter says why the pod cannot run on the node, in kube-scheduler's words, or undefined when it can. */
type Filter = (pod: Pod, state: NodeState, context: SchedulingContext) => string | readonly string[] | undefined;
const unschedulable: Filter = (pod, { node }) => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const;
  return node.spec?.unschedulable && !tolerates(pod.spec?.tolerations, taint)
    ? 'node(s) were unschedulable'
    : undefined;
};

const taints: Filter = (pod, { node }) => {
  const hard = (node.spec?.taints ?? []).filter(({ effect }) => effect !== 'PreferNoSchedule');
  const refused = hard.find((taint) => !tolerates(pod.spec?.tolerations, taint));
  return refused && `node(s) had untolerated taint(s)`;
};

const nodeAffinity: Filter = (pod, state) =>
  matchesNodeAffinity(pod, state) ? undefined : "node(s) didn't match Pod's node affinity/selector";

const resources: Filter = (pod, { free }) => {
  const requests = podRequests(pod);
  const missing = Object.keys(requests).filter((name) => {
    const amount = quantityOf(requests, name);
    return amount.sign() > 0 && amount.compare(quantityOf(free, name)) > 0;
  });
  return missing.map((name) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`));
};

interface HostPort {
  readonly port: number;
  readonly protocol: string;
  readonly ip: string;
}

function hostPorts(pod: Pod): HostPort[] {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return containers
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort, protocol = 'TCP', hostIP }) =>
      hostPort ? [{ port: hostPort, protocol, ip: hostIP || '0.0.0.0' }] : [],
    );
}

const ports: Filter = (pod, state) => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const used = state.pods.flatMap(hostPorts);
  const everywhere = '0.0.0.0';
  const clash = wanted.some((left) =>
    used.some(
      (right) =>
        left.port === right.port &&
        left.protocol === right.protocol &&
        (left.ip === right.ip || left.ip === everywhere || right.ip === everywhere),
    ),
  );
  return clash ? "node(s) didn't have free ports for the requested pod ports" : undefined;
};

const spread: Filter = (pod, state, { nodes }) => spreadViolation(pod, state, nodes);

const unmetAffinity = "node(s) didn't match pod affinity rules";

const sameDomain = (left: NodeState, right: NodeState, key: string): boolean =>
  left.labels[key] !== undefined && left.labels[key] === right.labels[key];

const podAffinity: Filter = (pod, state, { nodes, namespaceLabels }) => {
  const inDomain = (key: string): readonly NodeState[] => nodes.filter((other) => sameDomain(state, other, key));
  const repelled = nodes.some((other) =>
    other.pods.some((owner) =>
      affinityTerms(owner, 'podAntiAffinity').some(
        (term) => sameDomain(state, other, term.topologyKey) && matchesTerm(term, owner, pod, namespaceLabels),
      ),
    ),
  );
  if (repelled) return "node(s) didn't satisfy existing pods anti-affinity rules";

  const meets = (term: PodAffinityTerm, where: readonly NodeState[]): boolean =>
    where.some((other) => other.pods.some((placed) => matchesTerm(term, pod, placed, namespaceLabels)));
  if (affinityTerms(pod, 'podAntiAffinity').some((term) => meets(term, inDomain(term.topologyKey)))) {
    return "node(s) didn't match pod anti-affinity rules";
  }
  const terms = affinityTerms(pod, 'podAffinity');
  if (terms.some(({ topologyKey }) => state.labels[topologyKey] === undefined)) return unmetAffinity;
  if (terms.every((term) => meets(term, inDomain(term.topologyKey)))) return undefined;
  // The first pod of a group that selects itself may go anywhere.
  const isFirst = terms.every((term) => !meets(term, nodes) && matchesTerm(term, pod, pod, namespaceLabels));
  return isFirst ? undefined : unmetAffinity;
};

const filters: readonly Filter[] = [unschedulable, taints, nodeAffinity, ports, resources, spread, podAffinity];

/** Why the pod cannot run there: the complaints of the first filter that objects; empty when it can. */
export function complaints(pod: Pod, state: NodeState, context: SchedulingContext): readonly string[] {
  for (const filter of filters) {
    const found = [filter(pod, state, context) ?? []].flat();
    if (found.length > 0) return found;
  }
  return [];
}

/** `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable.` */
export function unschedulableMessage(perNode: readonly (readonly string[])[]): string {
  if (perNode.length === 0) return 'no nodes available to schedule pods';
  const counts = new Map<string, number>();
  for (const reason of perNode.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${perNode.length} nodes are available: ${reasons.join(', ')}.`;
}
