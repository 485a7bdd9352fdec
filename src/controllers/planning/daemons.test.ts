import { expect, it } from 'vitest';
import { Cluster } from '../../cluster/cluster.ts';
import { Daemons, unseenDaemonNamespaces } from './daemons.ts';
import { cpu, DAEMON, daemonSet, pod } from '../../../test/fixtures/engine/daemonObjects.ts';

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
