import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kinds } from '../../../src/api/kinds.ts';
import { Labels } from '../../../src/api/labels.ts';
import { isRunning, KwokCluster, type Program } from './kwokCluster.ts';

const REPLICAS = 500;

describe(`nodewright run --cloud-provider kwok, from 0 to ${REPLICAS} pods and back`, () => {
  let cluster: KwokCluster;
  let program: Program;

  beforeAll(async () => {
    cluster = await KwokCluster.start();
    program = await cluster.run();
  });
  afterAll(() => cluster?.stop());

  it('buys for all of them in one round', async () => {
    await cluster.deployment('web', REPLICAS, {
      containers: [{ name: 'main', image: 'app', resources: { requests: { cpu: '500m', memory: '512Mi' } } }],
    });
    await cluster.eventually('the scheduler has given up on all of them', async () => {
      const waiting = (await cluster.pods()).filter(({ status }) =>
        status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
      );
      return waiting.length === REPLICAS ? true : undefined;
    });
    await cluster.pool('default');
    await cluster.eventually('all pods run', async () =>
      (await cluster.pods()).filter(isRunning).length === REPLICAS ? true : undefined,
    );
    const purchases = program.logged('computed a plan').filter(({ plannedNodes }) => Number(plannedNodes) > 0);
    expect(purchases).toMatchObject([{ pods: REPLICAS, unplaced: 0 }]);
    const claims = await cluster.claims();
    const nodes = await cluster.nodes();
    expect(claims).toHaveLength(Number(purchases[0]?.['plannedNodes']));
    expect(await program.metric('karpenter_nodeclaims_created_total')).toBe(claims.length);
    expect(await program.metric('karpenter_nodes_created_total')).toBe(claims.length);
    expect(nodes).toHaveLength(claims.length);
    expect(new Set(nodes.map(({ spec }) => spec?.providerID))).toEqual(
      new Set(claims.map(({ status }) => status?.providerID)),
    );
    for (const { metadata } of nodes) {
      expect(metadata.labels).toMatchObject({ [Labels.registered]: 'true', 'kwok.x-k8s.io/node': 'fake' });
      expect(Number(metadata.labels?.['karpenter.kwok.sh/instance-cpu'])).toBeLessThan(10);
    }
  });

  it('leaves nothing behind', async () => {
    await cluster.kube.delete(Kinds.Deployment, { name: 'web', namespace: 'default' });
    await cluster.kube.delete(Kinds.NodePool, { name: 'default' });
    await cluster.eventually('nodes and claims are gone', async () => {
      const left = [...(await cluster.claims()), ...(await cluster.nodes())];
      return left.length === 0 ? true : undefined;
    });
    await cluster.eventually('pods are gone', async () => ((await cluster.pods()).length === 0 ? true : undefined));
    expect(program.logged('reconcile failed')).toEqual([]);
  });
});
