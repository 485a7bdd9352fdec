/** The nodes as rows. A row is the same object as before unless its node, a pod on it or its price has changed. */
import type { InstanceType } from '../../cloud/instanceType.ts';
import type { NodeView } from '../../cluster/nodeView.ts';
import { Labels } from '../../api/labels.ts';
import { nodeStatus } from '../../rehearsal/nodeRows.ts';
import { capacityTypeOf, nodePrice, typesOf } from '../../rehearsal/soldAs.ts';
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
  const byPool = new Map([...pools].map(([name, { instanceTypes }]) => [name, instanceTypes]));
  return views.map((view) => {
    const types = typesOf(view.labels, byPool);
    const before = known.get(view);
    if (before !== undefined && before.types === types) return before.row;
    const row = rowOf(view, types);
    known.set(view, { types, row });
    return row;
  });
}

function rowOf(view: NodeView, types: readonly InstanceType[] | undefined): NodeRow {
  const { labels, allocatable, requested, node, claim, nodePool = '' } = view;
  const part = (resource: string): number => {
    const whole = quantityOf(allocatable, resource).milliValue();
    return whole <= 0 ? 0 : quantityOf(requested, resource).milliValue() / whole;
  };
  return {
    name: view.name,
    nodePool,
    instanceType: labels[Labels.instanceType] ?? '',
    zone: labels[Labels.zone] ?? '',
    capacityType: capacityTypeOf(labels),
    price: nodePrice(labels, types),
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
