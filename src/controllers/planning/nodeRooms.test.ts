import { describe, expect, it } from 'vitest';
import type { CSINode, Node, Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { formatResources } from '../../units/resources.ts';
import { Daemons } from './daemons.ts';
import { NodeRooms } from './nodeRooms.ts';
import { cpu, DAEMON, daemonSet, pod } from '../../../test/fixtures/engine/daemonObjects.ts';

const node = (name: string, more: Partial<Node['metadata']> = {}): Node => ({
  metadata: { name, ...more },
  status: { capacity: { cpu: '4' }, allocatable: { cpu: '4', pods: '10' } },
});

type Promised = ReadonlyMap<string, readonly Pod[]>;

function roomsOf(cluster: Cluster, promised: Promised = new Map(), rooms = new NodeRooms(), daemons = new Daemons()) {
  const sources = { promised, daemons: daemons.of(cluster), csiNode: () => undefined };
  return rooms.of(cluster.snapshot().nodes, sources);
}
const free = (cluster: Cluster, promised?: Promised) =>
  roomsOf(cluster, promised).map(({ free: left }) => formatResources(left)['cpu']);

it('leaves what pods and daemons do not take', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n'));
  cluster.setPod(pod('p', 'n'));
  cluster.setDaemonSet(daemonSet());
  expect(free(cluster)).toEqual(['2500m']);
  cluster.setPod({ ...pod('d', 'n', DAEMON), spec: { nodeName: 'n', containers: cpu('500m') } });
  expect(free(cluster)).toEqual(['2500m']);
});

it('keeps room for an expected daemon next to one that no longer belongs there', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n'));
  cluster.setDaemonSet(daemonSet());
  const owner = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'gone', uid: 'gone' }] };
  cluster.setPod({ ...pod('stray', 'n', owner), spec: { nodeName: 'n', containers: cpu('500m') } });
  expect(free(cluster)).toEqual(['3']);
});

it('does not count a daemon that does not run on the node', () => {
  const cluster = new Cluster();
  cluster.setNode({ ...node('n'), spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } });
  cluster.setDaemonSet(daemonSet());
  expect(free(cluster)).toEqual(['4']);
  cluster.setDaemonSet(daemonSet({ tolerations: [{ operator: 'Exists' }], nodeSelector: { [Labels.arch]: 'arm64' } }));
  expect(free(cluster)).toEqual(['4']);
});

it('counts a daemon whatever the node only prefers', () => {
  const cluster = new Cluster();
  cluster.setNode({ ...node('n'), spec: { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] } });
  cluster.setDaemonSet(daemonSet());
  expect(free(cluster)).toEqual(['3500m']);
});

it('counts a daemon if any of its required terms matches the node', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n', { labels: { disk: 'ssd' } }));
  const term = (value: string) => ({ matchExpressions: [{ key: 'disk', operator: 'In', values: [value] }] });
  const required = (...values: string[]) => ({
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: values.map(term) } },
    },
  });
  cluster.setDaemonSet(daemonSet(required('hdd', 'ssd')));
  expect(free(cluster)).toEqual(['3500m']);
  cluster.setDaemonSet(daemonSet(required('hdd', 'nvme')));
  expect(free(cluster)).toEqual(['4']);
});

it('reserves the host ports of expected daemons', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n'));
  const containers = [{ name: 'c', ports: [{ containerPort: 80, hostPort: 8080 }] }];
  cluster.setDaemonSet(daemonSet({ containers }));
  expect(roomsOf(cluster)[0]?.reservedPorts).toMatchObject([{ port: 8080 }]);
  cluster.setPod({ ...pod('d', 'n', DAEMON), spec: { nodeName: 'n', containers } });
  expect(roomsOf(cluster)[0]?.reservedPorts).toBeUndefined();
});

it('leaves out nodes being deleted, and reserves planned room on launching ones', () => {
  const claim = (name: string, deleting: boolean): NodeClaim => ({
    metadata: { name, ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: {
      nodeClassRef: { group: 'g', kind: 'k', name: 'n' },
      requirements: [],
      expireAfter: 'Never',
      resources: { requests: { cpu: '3' } },
    },
  });
  const cluster = new Cluster();
  cluster.setClaim(claim('coming', false));
  cluster.setClaim(claim('going', true));
  expect(free(cluster, new Map([['coming', [pod('p')]]]))).toEqual(['2']);
});

describe('unchanged nodes', () => {
  it('are the same objects, in the same list', () => {
    const cluster = new Cluster();
    const rooms = new NodeRooms();
    const daemons = new Daemons();
    for (const name of ['a', 'b']) cluster.setNode(node(name));
    cluster.setDaemonSet(daemonSet());
    const before = roomsOf(cluster, new Map(), rooms, daemons);
    cluster.setPod(pod('waits'));
    expect(roomsOf(cluster, new Map(), rooms, daemons)).toBe(before);
    cluster.setPod(pod('p', 'b'));
    const after = roomsOf(cluster, new Map(), rooms, daemons);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
  });

  it('stay so when another daemon pod of the same shape appears', () => {
    const cluster = new Cluster();
    const rooms = new NodeRooms();
    const daemons = new Daemons();
    for (const name of ['a', 'b']) cluster.setNode(node(name));
    cluster.setDaemonSet(daemonSet());
    cluster.setPod(pod('d1', 'b', { ...DAEMON, creationTimestamp: '2026-01-01T00:00:00Z' }));
    const [before] = roomsOf(cluster, new Map(), rooms, daemons);
    cluster.setPod(pod('d2', 'b', { ...DAEMON, creationTimestamp: '2026-01-02T00:00:00Z' }));
    expect(roomsOf(cluster, new Map(), rooms, daemons)[0]).toBe(before);
  });

  it('are replaced when their attach limits change', () => {
    const cluster = new Cluster();
    cluster.setNode(node('n'));
    const rooms = new NodeRooms();
    const limits = (count: number): CSINode => ({
      metadata: { name: 'n' },
      spec: { drivers: [{ name: 'disk', nodeID: 'n', allocatable: { count } }] },
    });
    const of = (csi: CSINode) =>
      rooms.of(cluster.snapshot().nodes, { promised: new Map(), daemons: [], csiNode: () => csi })[0];
    expect(of(limits(4))?.volumeLimits?.get('disk')).toBe(4);
    expect(of(limits(8))?.volumeLimits?.get('disk')).toBe(8);
  });
});
