import { expect, it } from 'vitest';
import { PaperCluster } from '../../../test/fixtures/disruption/paperCluster.ts';
import { paperPod, UNSCHEDULABLE } from '../../../test/fixtures/disruption/paperPods.ts';
import type { Pod } from '../../api/kinds.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { pendingScreen } from './pending.ts';

it('tells of pods that no plan counts what keeps them out', () => {
  const paper = new PaperCluster();
  const waiting = (name: string, spec: Partial<NonNullable<Pod['spec']>>, more: Partial<Pod['metadata']> = {}) => {
    const pod = paperPod(name, { spec });
    paper.cluster.setPod({ ...pod, metadata: { ...pod.metadata, ...more }, status: UNSCHEDULABLE });
  };
  waiting('gated', { schedulingGates: [{ name: 'example.com/wait' }] });
  waiting('foreign', { schedulerName: 'volcano' });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'agent', controller: true };
  waiting('agent-1', {}, { ownerReferences: [owner] });
  waiting('plain', {});
  const { pendingPods } = paper.cluster.snapshot();
  const ledger = new Ledger({ now: () => paper.now });
  const heldPods = paper.cluster.heldPods();
  const { groups } = pendingScreen({ time: paper.now, views: [], pendingPods, heldPods, pools: new Map() }, ledger);
  expect(new Map(groups.map(({ example, reason }) => [example, reason]))).toEqual(
    new Map([
      ['default/gated', 'scheduling gates block it: example.com/wait'],
      [
        'default/foreign',
        'scheduler "volcano" is responsible for it, and nodes are bought only for pods of the default scheduler',
      ],
      [
        'default/agent-1',
        'the one node that its DaemonSet made it for does not take it, and no node is bought for such a pod',
      ],
      ['default/plain', ''],
    ]),
  );
  expect(paper.cluster.heldPods()).toHaveLength(3);
  for (const pod of heldPods) paper.cluster.removePod(pod);
  expect(paper.cluster.heldPods()).toEqual([]);
});
