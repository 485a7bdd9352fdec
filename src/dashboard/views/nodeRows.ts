/** The nodes as rows. A row is the same object as before unless its node, a pod on it or its price changed. */
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { CapacityTypes, Labels } from '../../api/labels.ts';
import { nodeStatus } from '../../rehearsal/nodeRows.ts';
import { typesByName } from '../../disruption/candidate.ts';
import { priceOf } from '../../disruption/costs.ts';
import { quantityOf } from '../../units/resources.ts';
import type { Picture } from '../picture.ts';
import type { NodeRow } from '../screens.ts';

const GIB = 2 ** 30;

interface Known {
  readonly types: readonly InstanceType[] | undefined;
  readonly row: NodeRow;
}

const known = new WeakMap<NodeView, Known>();

export function nodeRowsOf({ views, pools }: Pick<Picture, 'views' | 'pools'>): readonly NodeRow[] {
  const all = [...pools.values()].map(({ instanceTypes }) => instanceTypes);
  return views.map((view) => {
    const types = pools.get(view.nodePool ?? '')?.instanceTypes ?? all[0];
    const before = known.get(view);
    if (before !== undefined && before.types === types) return before.row;
    const row = rowOf(view, types);
    known.set(view, { types, row });
    return row;
  });
}

function rowOf(view: NodeView, types: readonly InstanceType[] | undefined): NodeRow {
  const { labels, allocatable, requested, node, claim, nodePool = '' } = view;
  const instanceType = labels[Labels.instanceType] ?? '';
  // A node that no pool has made is sold as any other; it is not spot unless it says so.
  const capacityType = labels[Labels.capacityType] ?? (nodePool === '' ? CapacityTypes.onDemand : '');
  const zone = labels[Labels.zone] ?? '';
  const part = (resource: string): number => {
    const whole = quantityOf(allocatable, resource).milliValue();
    return whole <= 0 ? 0 : quantityOf(requested, resource).milliValue() / whole;
  };
  return {
    name: view.name,
    nodePool,
    instanceType,
    zone,
    capacityType,
    price: types === undefined ? 0 : priceOf(typesByName(types).get(instanceType), zone, capacityType),
    cpu: part('cpu'),
    memory: part('memory'),
    cores: quantityOf(allocatable, 'cpu').milliValue() / 1000,
    gib: quantityOf(allocatable, 'memory').value() / GIB,
    pods: view.pods.length,
    maxPods: quantityOf(allocatable, 'pods').value(),
    created: Date.parse((claim ?? node)?.metadata.creationTimestamp ?? '') || 0,
    status: view.deleting ? 'Deleting' : node === undefined ? 'Launching' : nodeStatus(node),
  };
}
