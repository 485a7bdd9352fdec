import { describe, expect, it } from 'vitest';
import { PaperCluster } from '../../test/fixtures/disruption/paperCluster.ts';
import { paperCloud, paperObjects } from '../../test/fixtures/disruption/paperObjects.ts';
import { paperPod } from '../../test/fixtures/disruption/paperPods.ts';
import { testType } from '../../test/fixtures/solver/testObjects.ts';
import { Kinds } from '../api/kinds.ts';
import type { NodePool } from '../api/kinds/nodePool.ts';
import { Labels } from '../api/labels.ts';
import type { Finding } from '../ledger/finding.ts';
import { findingsText } from '../ledger/findingText.ts';
import { applyPatches } from './applyPatches.ts';
import { checkup } from './checkup.ts';
import type { ClusterObjects } from './clusterObjects.ts';
import { objectsKube } from './objectsKube.ts';
import { rehearse } from './rehearse.ts';

const TYPES = [testType('t2', 2, 4, 0.1), testType('t8', 8, 16, 0.36)];
const cloud = paperCloud(TYPES);
const OPEN: NodePool['spec']['disruption'] = {
  consolidateAfter: '0s',
  consolidationPolicy: 'WhenEmptyOrUnderutilized',
  budgets: [{ nodes: '100%' }],
};

async function findingsOf(paper: PaperCluster): Promise<readonly Finding[]> {
  const objects = paperObjects(paper);
  return checkup(await rehearse({ objects, cloud }), { cloud }, objectsKube(objects));
}

/** Remaining findings of the check after applying the fix. */
async function afterFix(paper: PaperCluster, check: Finding['check']): Promise<readonly string[]> {
  const objects = paperObjects(paper);
  const before = await checkup(await rehearse({ objects, cloud }), { cloud }, objectsKube(objects));
  const found = before.find((each) => each.check === check);
  const patched = applyPatches(objects, found?.fixes[0]?.patches ?? []);
  const after = await checkup(await rehearse({ ...patched, cloud }), { cloud }, objectsKube(patched.objects));
  return after.filter((each) => each.check === check).map(({ object }) => object.name);
}

/** A cluster with one problem. */
function trapped(check: string): PaperCluster {
  const paper = new PaperCluster();
  const disruption =
    check === 'default-budget'
      ? { ...OPEN, budgets: [{ nodes: '10%' }] }
      : check === 'budget-blocks'
        ? { ...OPEN, budgets: [{ nodes: '0' }] }
        : check === 'budget-unreadable'
          ? { ...OPEN, budgets: [{ nodes: '100%' }, { nodes: 'many' }] }
          : check === 'consolidation-never'
            ? { ...OPEN, consolidateAfter: 'Never' }
            : OPEN;
  paper.addPool(TYPES, {
    disruption,
    ...(check === 'limit-reached' && { limits: { cpu: '1' } }),
    ...(check === 'limit-near' && { limits: { cpu: '8' } }),
    ...(check === 'pool-refuses-all' && {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
          expireAfter: 'Never',
          requirements: [{ key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['nothing'] }],
        },
      },
    }),
  } as Partial<NodePool['spec']>);
  if (check === 'overlapping-pools') paper.addPool(TYPES, { name: 'second', disruption: OPEN });
  const guarded = check === 'budget-allows-nothing' || check === 'budgets-overlap' || check === 'held-node';
  if (guarded) {
    for (const name of check === 'budgets-overlap' ? ['a', 'b'] : ['a']) {
      paper.podBudgets.push({
        metadata: { name, namespace: 'default' },
        spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: '100%' },
        status: { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 },
      });
    }
  }
  const requests = check === 'no-requests' ? { spec: { containers: [{ name: 'main' }] } } : {};
  const pod = paperPod('web', { cpu: '500m', labels: { app: 'web' }, ...requests });
  const type = check === 'held-node' ? 't8' : 't2';
  if (check !== 'pool-refuses-all')
    paper.addNode({ type, pods: [pod], ...(check === 'drift-held' && { driftedFor: 1 }) });
  if (check === 'image-drifts') paper.addNode({ type: 't2', driftedFor: 1, driftReason: 'ImageDrift' });
  if (check === 'drift-held')
    paper.bind(paperPod('keep', { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } }), 'default-00001');
  if (check === 'limit-near') for (let at = 0; at < 3; at++) paper.addNode({ type: 't2', pods: [paperPod(`p${at}`)] });
  return paper;
}

describe('a known problem', () => {
  it.each([
    'limit-reached',
    'pool-refuses-all',
    'default-budget',
    'budget-blocks',
    'budget-unreadable',
    'consolidation-never',
    'overlapping-pools',
    'budget-allows-nothing',
    'budgets-overlap',
    'held-node',
    'drift-held',
    'image-drifts',
  ] as const)('%s is found, and gone after its fix', async (check) => {
    const paper = trapped(check);
    expect((await findingsOf(paper)).map((each) => each.check)).toContain(check);
    expect(await afterFix(paper, check)).toEqual([]);
  });

  it('held-node is none where only fewer pods would let the node go', async () => {
    const paper = new PaperCluster();
    paper.addPool(TYPES, { disruption: OPEN });
    const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
    paper.addNode({
      type: 't2',
      capacityType: 'spot',
      pods: [paperPod('web', { cpu: '1500m', memory: '1Gi', annotations })],
    });
    expect((await findingsOf(paper)).map((each) => each.check)).not.toContain('held-node');
  });

  it('spread-blocks is found where a looser spread would save a node, and only there', async () => {
    const spreadOver = (whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway') => {
      const paper = new PaperCluster();
      paper.addPool([testType('t8', 8, 16, 0.36)], { disruption: OPEN });
      const labels = { app: 'web' };
      const spec = {
        containers: [{ name: 'main', resources: { requests: { cpu: '500m', memory: '1Gi' } } }],
        topologySpreadConstraints: [
          { topologyKey: Labels.hostname, maxSkew: 1, whenUnsatisfiable, labelSelector: { matchLabels: labels } },
        ],
      };
      const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'web', controller: true };
      for (const name of ['web-0', 'web-1']) {
        const pod = paperPod(name, { labels, spec });
        pod.metadata.ownerReferences = [owner];
        paper.addNode({ type: 't8', pods: [pod] });
      }
      paper.addNode({ type: 't8', pods: [paperPod('large', { cpu: '7500m' })] });
      const set = {
        metadata: { name: 'web', namespace: 'default', uid: 'web' },
        spec: { replicas: 2, template: { spec }, podManagementPolicy: 'Parallel' },
      };
      return paperObjects(paper, [[Kinds.StatefulSet, [set]]]);
    };
    const spreadFindings = async (objects: ClusterObjects): Promise<readonly Finding[]> =>
      (await checkup(await rehearse({ objects, cloud }), { cloud }, objectsKube(objects))).filter(
        ({ check }) => check === 'spread-blocks',
      );
    const [found, ...others] = await spreadFindings(spreadOver('DoNotSchedule'));
    expect(found?.object).toMatchObject({ kind: 'StatefulSet', name: 'web' });
    expect(found?.sentence).toMatch(
      /^its 2 pods must spread over kubernetes.io\/hostname: .* \$\d+ per month, 1 node more than without it$/,
    );
    expect(found?.fixes[0]?.patches).toMatchObject([
      {
        target: { kind: 'StatefulSet', name: 'web' },
        patch: {
          spec: { template: { spec: { topologySpreadConstraints: [{ maxSkew: 2 }] } } },
        },
      },
    ]);
    expect(others).toEqual([]);
    expect(await spreadFindings(spreadOver('ScheduleAnyway'))).toEqual([]);
  });

  it('pods-stuck reports the constraint and its fix', async () => {
    const paper = trapped('none');
    paper.cluster.setPod({
      ...paperPod('lost', { spec: { nodeSelector: { 'topology.kubernetes.io/zone': 'nowhere' } } }),
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] },
    });
    const found = (await findingsOf(paper)).find(({ check }) => check === 'pods-stuck');
    expect(found).toMatchObject({ severity: 'error', object: { kind: 'Pod', name: 'lost' } });
    expect(found?.sentence).toContain('1 pod of it cannot get a node, such as default/lost');
    expect(found?.fixes.length).toBeGreaterThan(0);
  });

  it.each(['no-requests', 'limit-reached'] as const)('%s names its object', async (check) => {
    const found = (await findingsOf(trapped(check))).find((each) => each.check === check);
    expect(found?.object.name).toBe(check === 'no-requests' ? 'web' : 'default');
    expect(found?.fixes).not.toEqual([]);
  });

  it('is reported with the command that fixes it, the worst first', async () => {
    const text = findingsText(await findingsOf(trapped('budgets-overlap')));
    expect(text).toMatch(/^ERROR budget/);
    expect(text).toContain('kubectl patch poddisruptionbudget b -n default --type merge');
  });
});

it('does not treat a percentage of zero nodes as a blocking budget', async () => {
  const paper = new PaperCluster();
  paper.addPool(TYPES, { disruption: { ...OPEN, budgets: [{ nodes: '30%' }] } });
  expect(await findingsOf(paper)).toEqual([]);
});

it('finds nothing in a cluster without problems', async () => {
  expect(await findingsOf(trapped('none'))).toEqual([]);
});
