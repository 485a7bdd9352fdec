/** A cluster after decisions were executed: new nodes exist, pods run where planned, old nodes are gone. */
import { Kinds, type Node, type Pod } from '../api/kinds.ts';
import type { NodeClaim } from '../api/kinds/nodeClaim.ts';
import { Annotations, Labels } from '../api/labels.ts';
import type { KubeObject } from '../api/object.ts';
import type { PoolCatalogue } from '../disruption/candidate.ts';
import type { Command } from '../disruption/command.ts';
import { podKey } from '../pods/podKey.ts';
import { isReschedulable } from '../pods/podPredicates.ts';
import { withoutNode } from '../pods/withoutNode.ts';
import type { PlannedNode } from '../solver/problem.ts';
import { formatResources } from '../units/resources.ts';
import { timestamp } from '../units/timestamp.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';

/** Changes at one moment. */
export interface Step {
  readonly planned: readonly PlannedNode[];
  readonly onExisting: readonly { readonly node: string; readonly pods: readonly string[] }[];
  /** Names of claims and of their nodes. */
  readonly gone: readonly { readonly claim: string; readonly node: string }[];
}

export function stepOf(commands: readonly Command[]): Step {
  return {
    planned: commands.flatMap(({ replacements }) =>
      replacements.flatMap((each) => (each.kind === 'planned' ? [each.plan] : [])),
    ),
    onExisting: commands.flatMap(({ onExisting }) => onExisting),
    gone: commands.flatMap(({ candidates }) =>
      candidates.map(({ view }) => ({ claim: view.claim.metadata.name, node: view.name })),
    ),
  };
}

/** New nodes are named after `prefix`. Pods of removed nodes that have no other place end with their node. */
export function carryOut(
  objects: ClusterObjects,
  { planned, onExisting, gone }: Step,
  pools: ReadonlyMap<string, PoolCatalogue>,
  prefix: string,
): ClusterObjects {
  const made = planned.flatMap((plan, at) => {
    const pool = pools.get(plan.pool);
    return pool === undefined ? [] : [{ plan, ...newNode(plan, pool, `${prefix}-${at + 1}`, objects.time) }];
  });
  const places = new Map<string, string>();
  for (const { node, pods } of onExisting) for (const pod of pods) places.set(pod, node);
  for (const { plan, node } of made) for (const pod of plan.pods) places.set(pod, node.metadata.name);
  const [claims, nodes] = [new Set(gone.map(({ claim }) => claim)), new Set(gone.map(({ node }) => node))];
  const pods = objectsOf(objects, Kinds.Pod).flatMap((pod): Pod[] => {
    const place = places.get(podKey(pod));
    if (place !== undefined) return [moved(pod, place, objects.time)];
    return nodes.has(pod.spec?.nodeName ?? '') ? [] : [pod];
  });
  const without = <T extends KubeObject>(list: readonly T[], names: ReadonlySet<string>): readonly T[] =>
    list.filter(({ metadata }) => !names.has(metadata.name));
  const kinds = new Map(objects.kinds);
  kinds.set(kindKey(Kinds.Pod), pods);
  kinds.set(kindKey(Kinds.Node), [...without(objectsOf(objects, Kinds.Node), nodes), ...made.map(({ node }) => node)]);
  kinds.set(kindKey(Kinds.NodeClaim), [
    ...without(objectsOf(objects, Kinds.NodeClaim), claims),
    ...made.map(({ claim }) => claim),
  ]);
  return { ...objects, kinds };
}

/** The same for nodes already being removed: their pods that must be rescheduled wait for a place. */
export function finishDepartures(objects: ClusterObjects, gone: Step['gone']): ClusterObjects {
  const nodes = new Set(gone.map(({ node }) => node));
  const homeless = objectsOf(objects, Kinds.Pod).filter(
    (pod) => nodes.has(pod.spec?.nodeName ?? '') && isReschedulable(pod),
  );
  const left = carryOut(objects, { planned: [], onExisting: [], gone }, new Map(), '');
  const waiting = homeless.map((pod) => unscheduled(withoutNode(pod)));
  const kinds = new Map([...left.kinds, [kindKey(Kinds.Pod), [...objectsOf(left, Kinds.Pod), ...waiting]] as const]);
  return { ...left, kinds };
}

/** State of a pod that the scheduler could not place. */
export function unscheduled(pod: Pod): Pod {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
  return { ...pod, status: { phase: 'Pending', conditions } };
}

function moved(pod: Pod, nodeName: string, time: number): Pod {
  return {
    ...pod,
    spec: { containers: [], ...pod.spec, nodeName },
    status: {
      ...pod.status,
      phase: 'Running',
      startTime: timestamp(time),
      conditions: [{ type: READY, status: 'True' }],
    },
  };
}

const READY = 'Ready';

function newNode(
  { alternatives: [offering] }: PlannedNode,
  { pool, instanceTypes }: PoolCatalogue,
  name: string,
  time: number,
): { readonly node: Node; readonly claim: NodeClaim } {
  const type = instanceTypes.find((each) => each.name === offering?.instanceType);
  const { template } = pool.spec;
  const since = timestamp(time);
  const single = [...(type?.requirements ?? [])].flatMap(({ key, values }): [string, string][] => {
    const [only, ...others] = values;
    return only === undefined || others.length > 0 ? [] : [[key, only]];
  });
  const labels = {
    ...Object.fromEntries(single),
    ...template.metadata?.labels,
    [Labels.nodePool]: pool.metadata.name,
    [Labels.instanceType]: offering?.instanceType ?? '',
    [Labels.zone]: offering?.zone ?? '',
    [Labels.capacityType]: offering?.capacityType ?? '',
    [Labels.hostname]: name,
  };
  const amounts = {
    capacity: formatResources(type?.capacity ?? {}),
    allocatable: formatResources(type?.allocatable ?? {}),
  };
  const stamps = pool.metadata.annotations ?? {};
  const copied = [Annotations.nodePoolHash, Annotations.nodePoolHashVersion].flatMap((key): [string, string][] =>
    stamps[key] === undefined ? [] : [[key, stamps[key]]],
  );
  const condition = (kind: string) => ({
    type: kind,
    status: 'True' as const,
    lastTransitionTime: since,
    reason: kind,
  });
  const providerID = `rehearsal://${name}`;
  const { taints = [], nodeClassRef, expireAfter, terminationGracePeriod } = template.spec;
  return {
    claim: {
      metadata: {
        name,
        uid: `claim-${name}`,
        labels,
        annotations: Object.fromEntries(copied),
        creationTimestamp: since,
      },
      spec: {
        nodeClassRef,
        requirements: [],
        expireAfter,
        taints,
        ...(terminationGracePeriod !== undefined && { terminationGracePeriod }),
      },
      status: {
        providerID,
        nodeName: name,
        ...amounts,
        lastPodEventTime: since,
        conditions: ['Launched', 'Registered', 'Initialized', READY].map(condition),
      },
    },
    node: {
      metadata: {
        name,
        uid: `node-${name}`,
        creationTimestamp: since,
        labels: { ...labels, [Labels.registered]: 'true', [Labels.initialized]: 'true' },
      },
      spec: { providerID, taints },
      status: { ...amounts, conditions: [{ type: READY, status: 'True' }] },
    },
  };
}
