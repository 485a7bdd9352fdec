import { expect, it } from 'vitest';
import type { DaemonSet, Node, Pod } from '../../api/kinds.ts';
import type { NodeClaim } from '../../api/kinds/nodeClaim.ts';
import { Labels } from '../../api/labels.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { memoryInstanceType } from '../../../test/fixtures/engine/memoryCloud.ts';
import { formatResources } from '../../units/resources.ts';
import { buildProblem, daemonPods, unseenDaemonNamespaces, usageAtMost } from './problem.ts';

const cpu = (amount: string) => [{ name: 'c', resources: { requests: { cpu: amount } } }];
const node = (name: string, more: Partial<Node['metadata']> = {}): Node => ({
  metadata: { name, ...more },
  status: { capacity: { cpu: '4' }, allocatable: { cpu: '4', pods: '10' } },
});
const pod = (name: string, nodeName?: string, more: Partial<Pod['metadata']> = {}): Pod => ({
  metadata: { name, namespace: 'default', uid: name, ...more },
  spec: { containers: cpu('1'), ...(nodeName && { nodeName }) },
});
const daemonSet = (spec: object = {}): DaemonSet => ({
  metadata: { name: 'agent', namespace: 'default', uid: 'agent' },
  spec: {
    selector: { matchLabels: {} },
    template: { spec: { containers: [{ name: 'c', resources: { limits: { cpu: '500m' } } }], ...spec } },
  },
});
const DAEMON = { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent' }] };

function problemOf(cluster: Cluster, promised = new Map<string, readonly Pod[]>()) {
  return buildProblem(cluster.snapshot(), [], promised, [], daemonPods(cluster));
}
const free = (cluster: Cluster, promised?: Map<string, readonly Pod[]>) =>
  problemOf(cluster, promised).nodes.map(({ free: left }) => formatResources(left)['cpu']);

it('leaves what pods and daemons do not take', () => {
  const cluster = new Cluster();
  cluster.setNode(node('n'));
  cluster.setPod(pod('p', 'n'));
  cluster.setDaemonSet(daemonSet());
  expect(free(cluster)).toEqual(['2500m']);
  cluster.setPod({ ...pod('d', 'n', DAEMON), spec: { nodeName: 'n', containers: cpu('500m') } });
  expect(free(cluster)).toEqual(['2500m']);
});

it('does not count a daemon that does not come to the node', () => {
  const cluster = new Cluster();
  cluster.setNode({ ...node('n'), spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } });
  cluster.setDaemonSet(daemonSet());
  expect(free(cluster)).toEqual(['4']);
  cluster.setDaemonSet(daemonSet({ tolerations: [{ operator: 'Exists' }], nodeSelector: { [Labels.arch]: 'arm64' } }));
  expect(free(cluster)).toEqual(['4']);
});

it('takes a real daemon pod for what admission made of it, without the node that it is pinned to', () => {
  const cluster = new Cluster();
  cluster.setDaemonSet(daemonSet({ nodeSelector: { disk: 'ssd' } }));
  cluster.setPod({
    ...pod('d', 'n', DAEMON),
    spec: {
      nodeName: 'n',
      containers: cpu('2'),
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }],
          },
        },
      },
    },
  });
  const [daemon] = daemonPods(cluster);
  expect(daemon?.spec).toEqual({ containers: cpu('2') });
});

it('gives a daemon that nobody has seen what its namespace gives to containers that ask for nothing', () => {
  const cluster = new Cluster();
  cluster.setDaemonSet(daemonSet({ initContainers: [{ name: 'i' }] }));
  expect([...unseenDaemonNamespaces(cluster)]).toEqual(['default']);
  const [daemon] = daemonPods(cluster, new Map([['default', { cpu: '2', memory: '1Gi' }]]));
  const requests = [...(daemon?.spec?.containers ?? []), ...(daemon?.spec?.initContainers ?? [])].map(
    ({ resources }) => resources?.requests,
  );
  expect(requests).toEqual([
    { cpu: '500m', memory: '1Gi' },
    { cpu: '2', memory: '1Gi' },
  ]);
  cluster.setPod(pod('d', 'n', DAEMON));
  expect([...unseenDaemonNamespaces(cluster)]).toEqual([]);
});

it('leaves out machines that go away, and reserves what is promised on those that come', () => {
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

it('counts a machine that has not launched as the largest that it may become', () => {
  const cluster = new Cluster();
  const types = [
    memoryInstanceType('small', 2, 1),
    memoryInstanceType('large', 8, 4),
    memoryInstanceType('huge', 64, 9),
  ];
  const claim: NodeClaim = {
    metadata: { name: 'c', uid: 'c', labels: { [Labels.nodePool]: 'default' } },
    spec: {
      nodeClassRef: { group: 'g', kind: 'k', name: 'n' },
      requirements: [{ key: Labels.instanceType, operator: 'In', values: ['small', 'large'] }],
      resources: { requests: { cpu: '1' } },
      expireAfter: 'Never',
    },
  };
  const used = (): string | undefined =>
    formatResources(usageAtMost(cluster.poolUsage('default'), cluster.snapshot().nodes, types))['cpu'];
  cluster.setClaim(claim);
  expect(used()).toBe('8');
  cluster.setClaim({ ...claim, status: { providerID: 'p', capacity: { cpu: '2' }, allocatable: { cpu: '2' } } });
  expect(used()).toBe('2');
});
