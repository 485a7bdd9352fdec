import type { CSINode, Pod } from '../../api/kinds.ts';
import { Labels } from '../../api/labels.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { NODE_NAME_FIELD, requirementTerms } from '../../constraints/podRequirements.ts';
import { Requirements } from '../../constraints/requirements.ts';
import { hostPortsOf } from '../../pods/hostPorts.ts';
import { podRequests } from '../../pods/podRequests.ts';
import { isDaemonPod } from '../../pods/podPredicates.ts';
import { untoleratedTaints } from '../../pods/taints.ts';
import type { ExistingNode } from '../../solver/problem.ts';
import { Quantity } from '../../units/quantity.ts';
import { addResources, maxResources, subtractResources, type Resources } from '../../units/resources.ts';
import { daemonSetName } from './daemons.ts';

/** Input about nodes that is not part of the cluster state. */
export interface NodeRoomSources {
  /** Pods with a place on a node, by view name. */
  readonly promised: ReadonlyMap<string, readonly Pod[]>;
  readonly daemons: readonly Pod[];
  /** By node name. */
  readonly csiNode: (name: string) => CSINode | undefined;
}

interface Known {
  readonly promised: readonly Pod[];
  readonly csiNode: CSINode | undefined;
  readonly node: ExistingNode;
}

const NO_PODS: readonly Pod[] = [];

/**
 * Free room of nodes for pods. A node with unchanged view, planned pods and attach limits gives the same object as
 * before, and an unchanged list the same list, so that a model can be carried forward cheaply.
 */
export class NodeRooms {
  private known = new WeakMap<NodeView, Known>();
  private daemons: readonly Pod[] = [];
  private list: readonly ExistingNode[] = [];

  of(views: readonly NodeView[], { promised, daemons, csiNode }: NodeRoomSources): readonly ExistingNode[] {
    if (daemons !== this.daemons) this.known = new WeakMap();
    this.daemons = daemons;
    const nodes: ExistingNode[] = [];
    let isSame = true;
    for (const view of views) {
      if (view.deleting) continue;
      const own = promised.get(view.name) ?? NO_PODS;
      const csi = view.node && csiNode(view.node.metadata.name);
      let known = this.known.get(view);
      if (known === undefined || known.csiNode !== csi || !isSameList(known.promised, own)) {
        known = { promised: own, csiNode: csi, node: existingNode(view, own, daemons, csi) };
        this.known.set(view, known);
      }
      isSame &&= this.list[nodes.length] === known.node;
      nodes.push(known.node);
    }
    if (!isSame || nodes.length !== this.list.length) this.list = nodes;
    return this.list;
  }
}

/** Free resources of the node after running pods and expected daemons. */
export function freeOn(view: NodeView, daemons: readonly Pod[]): Resources {
  return existingNode(view, NO_PODS, daemons, undefined).free;
}

function isSameList(left: readonly Pod[], right: readonly Pod[]): boolean {
  return left.length === right.length && left.every((pod, at) => pod === right[at]);
}

function existingNode(
  view: NodeView,
  promised: readonly Pod[],
  daemons: readonly Pod[],
  csi: CSINode | undefined,
): ExistingNode {
  const expected = expectedDaemons(view, daemons);
  const running = runningDaemons(view);
  const taken = [view.requested, ...promised.map((pod) => podRequests(pod)), missingRequests(running, expected)];
  const ports = expected.filter((pod) => !running.has(daemonSetName(pod))).flatMap((pod) => hostPortsOf(pod));
  const limits = csi && attachLimits(csi);
  return {
    name: view.name,
    labels: view.labels,
    taints: view.taints,
    free: subtractResources(view.allocatable, addResources(...taken)),
    pods: [...view.pods, ...promised],
    initialized: view.initialized,
    ...(ports.length > 0 && { reservedPorts: ports }),
    ...(limits && { volumeLimits: limits }),
  };
}

/** Daemons that run on the node, or will. */
function expectedDaemons({ name, labels, taints }: NodeView, daemons: readonly Pod[]): readonly Pod[] {
  if (daemons.length === 0) return daemons;
  const node = Requirements.fromLabels({ [Labels.hostname]: name, [NODE_NAME_FIELD]: name, ...labels });
  // Preferences exclude no daemon, and one of several required terms suffices.
  const hard = taints.filter(({ effect }) => effect !== 'PreferNoSchedule');
  return daemons.filter(
    (pod) =>
      untoleratedTaints(hard, pod.spec?.tolerations).length === 0 &&
      requirementTerms(pod).some((term) => node.isCompatible(term)),
  );
}

/**
 * Requests that daemons will add on the node: each minus what its own pod already uses there. A running pod of a daemon
 * that no longer belongs there frees nothing.
 */
function missingRequests(running: ReadonlyMap<string, readonly Pod[]>, expected: readonly Pod[]): Resources {
  const missing = expected.map((pod) => {
    const there = (running.get(daemonSetName(pod)) ?? []).map((each) => podRequests(each));
    return positive(subtractResources(podRequests(pod), addResources(...there)));
  });
  return addResources(...missing);
}

function positive(resources: Resources): Resources {
  const zero = Object.fromEntries(Object.keys(resources).map((name) => [name, Quantity.zero]));
  return maxResources(resources, zero);
}

/** By DaemonSet name. */
function runningDaemons({ pods }: NodeView): Map<string, Pod[]> {
  const running = new Map<string, Pod[]>();
  for (const pod of pods) {
    if (!isDaemonPod(pod)) continue;
    const name = daemonSetName(pod);
    running.set(name, [...(running.get(name) ?? []), pod]);
  }
  return running;
}

/** How many disks of each driver the node can attach. */
function attachLimits({ spec }: CSINode): ReadonlyMap<string, number> {
  return new Map(
    spec.drivers.flatMap(({ name, allocatable }) =>
      allocatable?.count === undefined ? [] : [[name, allocatable.count]],
    ),
  );
}
