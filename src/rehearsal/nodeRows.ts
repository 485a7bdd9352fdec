/** The nodes of a cluster as rows of `top`: type, price and utilization. Needs no plan. */
import { Kinds, type Node, type Pod } from '../api/kinds.ts';
import { READY } from '../api/conditionTypes.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import type { CloudProvider } from '../cloud/cloudProvider.ts';
import type { InstanceType } from '../cloud/instanceType.ts';
import { isTerminal } from '../pods/podPredicates.ts';
import { podRequests } from '../pods/podRequests.ts';
import { addResources, noResources, parseResources, quantityOf, type Resources } from '../units/resources.ts';
import { kindKey, objectsOf, type ClusterObjects } from './clusterObjects.ts';
import { capacityTypeOf, nodePrice, typesOf } from './soldAs.ts';

export interface NodeRow {
  readonly name: string;
  readonly nodePool: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: string;
  /** US dollars per hour; 0 when unknown. */
  readonly pricePerHour: number;
  /** Requested share of the resources allocatable to pods. */
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
  readonly maxPods: number;
  /** Milliseconds. */
  readonly age: number;
  readonly status: 'Ready' | 'NotReady' | 'Deleting' | 'Cordoned' | 'Starting';
  readonly labels: Readonly<Record<string, string>>;
}

export async function nodeRows(objects: ClusterObjects, cloud: CloudProvider): Promise<readonly NodeRow[]> {
  const types = await typesByPool(objects, cloud);
  const byNode = new Map<string, Pod[]>();
  for (const pod of objectsOf(objects, Kinds.Pod)) {
    const { nodeName } = pod.spec ?? {};
    if (nodeName === undefined || isTerminal(pod)) continue;
    const known = byNode.get(nodeName);
    if (known === undefined) byNode.set(nodeName, [pod]);
    else known.push(pod);
  }
  return objectsOf(objects, Kinds.Node).map((node) => {
    const { name, labels = {}, creationTimestamp = '' } = node.metadata;
    const pods = byNode.get(name) ?? [];
    const requested = pods.reduce<Resources>((sum, pod) => addResources(sum, podRequests(pod)), noResources);
    const allocatable = parseResources(node.status?.allocatable);
    const part = (resource: string): number => {
      const all = quantityOf(allocatable, resource).milliValue();
      return all <= 0 ? 0 : quantityOf(requested, resource).milliValue() / all;
    };
    return {
      name,
      nodePool: labels[Labels.nodePool] ?? '',
      instanceType: labels[Labels.instanceType] ?? '',
      zone: labels[Labels.zone] ?? '',
      capacityType: capacityTypeOf(labels),
      pricePerHour: nodePrice(labels, typesOf(labels, types)),
      cpu: part('cpu'),
      memory: part('memory'),
      pods: pods.length,
      maxPods: quantityOf(allocatable, 'pods').value(),
      age: Math.max(0, objects.time - (Date.parse(creationTimestamp) || objects.time)),
      status: nodeStatus(node),
      labels,
    };
  });
}

export function nodeStatus({ metadata, spec, status }: Node): NodeRow['status'] {
  if (metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (metadata.labels?.[Labels.nodePool] !== undefined && metadata.labels[Labels.initialized] !== 'true')
    return 'Starting';
  const ready = (status?.conditions ?? []).some((each) => each.type === READY && each.status === 'True');
  if (!ready) return 'NotReady';
  return spec?.unschedulable === true ? 'Cordoned' : 'Ready';
}

/** Pools of one node class share their types: fetch them once per class. */
async function typesByPool(
  objects: ClusterObjects,
  cloud: CloudProvider,
): Promise<ReadonlyMap<string, readonly InstanceType[]>> {
  const pools = objectsOf(objects, Kinds.NodePool);
  const found = await Promise.all(
    pools.map(async (pool: NodePool): Promise<[string, readonly InstanceType[]]> => {
      const ref = pool.spec.template.spec.nodeClassRef;
      const kind = cloud.nodeClasses.find((each) => each.kind === ref.kind && each.group === ref.group);
      const nodeClass =
        kind && (objects.kinds.get(kindKey(kind)) ?? []).find(({ metadata }) => metadata.name === ref.name);
      const types = nodeClass && kind ? await cloud.instanceTypes(pool, { kind: kind.kind, ...nodeClass }) : [];
      return [pool.metadata.name, types];
    }),
  );
  return new Map(found);
}
