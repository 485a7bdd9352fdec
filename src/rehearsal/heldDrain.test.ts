import { describe, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperCloud, paperObjects } from '../../test/fixtures/disruption/paperObjects.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Annotations } from '../api/labels.ts';
import type { Explanation } from '../ledger/explanation.ts';
import { explainNodeIn } from './explainNodeIn.ts';
import { objectsKube } from './objectsKube.ts';
import { rehearse } from './rehearse.ts';

const TYPES = [testType('t2', 2, 4, 0.1)];
const cloud = paperCloud(TYPES);

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web', controller: true };

/** A static pool of one node, with a pod protected by a budget or its annotation. */
function guarded(by: 'budget' | 'annotation', replicas: number, spec = {}): PaperCluster {
  const paper = new PaperCluster();
  paper.addPool(TYPES, { replicas });
  const annotations = by === 'annotation' ? { [Annotations.doNotDisrupt]: 'true' } : {};
  const pod = paperPod('web', { cpu: '500m', labels: { app: 'web' }, annotations });
  paper.addNode({ name: 'one', type: 't2', pods: [pod], spec });
  if (by === 'annotation') return paper;
  paper.podBudgets.push({
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: '100%' },
    status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 },
  });
  return paper;
}

async function explained(paper: PaperCluster): Promise<Explanation | undefined> {
  const objects = paperObjects(paper);
  const rehearsal = await rehearse({ objects, cloud });
  return explainNodeIn(rehearsal, { kind: 'nodeclaim', name: 'one' }, { cloud }, objectsKube(objects));
}

describe('a surplus node of a static pool', () => {
  it.each([
    ['budget', 'pdb', 'PodDisruptionBudget'],
    ['annotation', 'do-not-disrupt-pod', 'Pod'],
  ] as const)(
    'is kept by the %s of a pod, for which the drain waits, until the fix allows its removal',
    async (by, cause, kind) => {
      const explanation = await explained(guarded(by, 0));
      expect(explanation?.constraint).toBe(cause);
      expect(explanation?.fixes[0]?.patches.map(({ target }) => target.kind)).toEqual([kind]);
    },
  );

  it('is kept by a budget that allows only some of its pods to be evicted, when they find no other place', async () => {
    const paper = new PaperCluster();
    paper.addPool(TYPES, { replicas: 0 });
    const pods = ['a', 'b'].map((name) => {
      const pod = paperPod(name, { cpu: '500m', labels: { app: 'web' } });
      return { ...pod, metadata: { ...pod.metadata, ownerReferences: [OWNER] } };
    });
    paper.addNode({ name: 'one', type: 't2', pods });
    paper.podBudgets.push({
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 3 },
      status: { currentHealthy: 2, desiredHealthy: 1, expectedPods: 4, disruptionsAllowed: 1 },
    });
    const explanation = await explained(paper);
    expect(explanation?.constraint).toBe('pdb');
    expect(explanation?.fixes[0]?.patches.map(({ patch }) => patch)).toEqual([
      { spec: { maxUnavailable: 4, minAvailable: null } },
    ]);
  });

  it('is removed in the end when its drain has a deadline', async () => {
    const explanation = await explained(guarded('budget', 0, { terminationGracePeriod: '1h' }));
    expect(explanation?.constraint).toBe('going');
  });

  it('is still surplus after a fix that leaves its drain blocked: both changes belong together', async () => {
    const explanation = await explained(guarded('budget', 1));
    expect(explanation?.fixes[0]?.patches.map(({ target }) => target.kind).toSorted()).toEqual([
      'NodePool',
      'PodDisruptionBudget',
    ]);
  });
});
