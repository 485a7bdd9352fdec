import { expect, it } from 'vitest';
import type { DaemonSet, Pod } from '../../api/kinds.ts';
import { Cluster } from '../../cluster/cluster.ts';
import { Daemons, unseenDaemonNamespaces } from './daemons.ts';

const cpu = (amount: string) => [{ name: 'c', resources: { requests: { cpu: amount } } }];
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

it('uses a running daemon pod, as admission changed it, without its pinned node', () => {
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
  const [daemon] = new Daemons().of(cluster);
  expect(daemon?.spec).toEqual({ containers: cpu('2') });
});

it('applies LimitRange defaults to a daemon without pods', () => {
  const cluster = new Cluster();
  cluster.setDaemonSet(daemonSet({ initContainers: [{ name: 'i' }] }));
  expect([...unseenDaemonNamespaces(cluster)]).toEqual(['default']);
  const [daemon] = new Daemons().of(cluster, new Map([['default', { cpu: '2', memory: '1Gi' }]]));
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
