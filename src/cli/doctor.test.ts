import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ArmFixture } from '../../test/fixtures/local/armFixture.ts';
import { CliCluster } from '../../test/fixtures/local/cliCluster.ts';
import { renderChart, type Manifest } from '../aks/renderChart.ts';
import { Kinds } from '../api/kinds.ts';
import { Labels } from '../api/labels.ts';
import type { KubeObject, ResourceKind } from '../api/object.ts';
import { parseYaml } from '../api/yaml/parseYaml.ts';
import type { Finding } from '../ledger/finding.ts';
import { kindOf } from '../rehearsal/applyPatches.ts';
import { writeAzureEnvironment } from './compose/azureEnvironment.ts';

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const NAMESPACE = 'kube-system';

let cluster: CliCluster;

beforeEach(async () => {
  cluster = await CliCluster.start();
});

afterEach(async () => {
  await cluster.stop();
});

async function doctor(...args: readonly string[]): Promise<{ code: number; findings: readonly Finding[] }> {
  const { code, stdout } = await cluster.nodewright(['doctor', '-o', 'json', ...args]);
  return { code, findings: (JSON.parse(stdout) as { findings: readonly Finding[] }).findings };
}

const named = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ check, severity, object }) => `${severity} ${check} ${object.name}`);

const rbac = (kind: string, namespaced: boolean): ResourceKind<KubeObject> => ({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  namespaced,
});
const RBAC_KINDS = [
  rbac('ClusterRole', false),
  rbac('ClusterRoleBinding', false),
  rbac('Role', true),
  rbac('RoleBinding', true),
];
const chartKind = ({ kind }: { readonly kind: string }): ResourceKind<KubeObject> | undefined =>
  [Kinds.ServiceAccount, Kinds.Deployment, ...RBAC_KINDS].find((each) => each.kind === kind);

/** As `helm install` would, but for what the API server alone has no use for. */
async function installChart(change: (manifest: Manifest) => Manifest): Promise<void> {
  const values = { image: { repository: 'images/nodewright' } };
  for (const manifest of renderChart(CHART, values, { Name: 'node', Namespace: NAMESPACE })) {
    const kind = chartKind(manifest);
    if (kind !== undefined) await cluster.kube.create(kind, change(manifest));
  }
}

/** Makes the first fix of each finding. */
async function mend(findings: readonly Finding[]): Promise<void> {
  for (const { target, patch } of findings.flatMap(({ fixes }) => fixes[0]?.patches ?? [])) {
    const kind = kindOf(target) ?? chartKind(target);
    if (kind === undefined) throw new Error(`no kind ${target.kind}`);
    await cluster.kube.patch(kind, target, { type: 'merge', body: patch });
  }
}

describe('nodewright doctor', { timeout: 180_000 }, () => {
  it('reports nothing for a cluster without problems', async () => {
    await cluster.addPool('default');
    const { code, stdout } = await cluster.nodewright(['doctor']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'No problems found.\n' });
  });

  it('finds each problem once, and none after the fixes', async () => {
    const closed = { taints: [{ key: 'own', effect: 'NoSchedule' }] };
    const typo = [{ key: Labels.instanceType, operator: 'In', values: ['Standard_Nothing'] }];
    await cluster.addPool('default');
    await cluster.addPool('overlapping');
    await cluster.addPool('implicit', { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '10%' }] } }, closed);
    await cluster.addPool('no-size', {}, { ...closed, requirements: typo });
    await cluster.addPool('full', { limits: { cpu: '1' } }, closed);
    await cluster.addNode({ name: 'old', pool: 'implicit', drifted: 'ImageDrift' });
    const labels = { app: 'guarded' };
    await cluster.addNode({
      name: 'held',
      pool: 'default',
      pods: [{ name: 'guarded', object: { metadata: { labels } } }],
    });
    await cluster.create(
      Kinds.PodDisruptionBudget,
      {
        metadata: { name: 'closed', namespace: 'default' },
        spec: { selector: { matchLabels: labels }, minAvailable: 1 },
      },
      { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0, observedGeneration: 1 },
    );
    const before = await doctor();
    expect(before.code).toBe(1);
    expect(named(before.findings)).toEqual([
      'error budget-allows-nothing closed',
      'error limit-reached full',
      'error pool-refuses-all no-size',
      'warning held-node held',
      'warning overlapping-pools default',
      'info default-budget implicit',
      'info image-drifts implicit',
    ]);
    for (const { fixes } of before.findings) expect(fixes[0]?.patches.length).toBeGreaterThan(0);
    // The second of two patches of one pool would undo the first, as with two people who follow the same advice.
    const isFirst = ({ object }: Finding, at: number): boolean =>
      before.findings.findIndex((each) => each.object.name === object.name) === at;
    await mend(before.findings.filter(isFirst));
    // What the disruption controller of a whole cluster would count now.
    const status = { disruptionsAllowed: 1 };
    const budget = { name: 'closed', namespace: 'default' };
    const body = { status };
    await cluster.kube.patch(Kinds.PodDisruptionBudget, budget, { type: 'merge', body }, { subresource: 'status' });
    const after = await doctor();
    await mend(after.findings);
    expect(named(after.findings)).toEqual(['info image-drifts implicit']);
    expect(await doctor()).toEqual({ code: 0, findings: [] });
  });

  it('finds the rights that the account of the controller lacks, and the role that would give them', async () => {
    await cluster.addPool('default');
    await installChart((manifest) => {
      if (manifest.kind !== 'ClusterRole') return manifest;
      const { rules } = manifest as unknown as { readonly rules: readonly { readonly resources: readonly string[] }[] };
      const less = rules.filter(
        ({ resources }) => !resources.includes('pods/eviction') && !resources.includes('pods/status'),
      );
      return { ...manifest, rules: less } as Manifest;
    });
    const { code, findings } = await doctor();
    expect(code).toBe(1);
    expect(findings).toMatchObject([
      {
        check: 'rights-missing',
        severity: 'error',
        object: { kind: 'ServiceAccount', namespace: NAMESPACE, name: 'nodewright' },
        sentence: 'it lacks 1 right: create pods/eviction',
      },
      {
        check: 'rights-missing',
        severity: 'info',
        sentence: 'it lacks 1 right, needed for placement hints: patch pods/status',
      },
    ]);
    await mend(findings.slice(0, 1));
    expect(await doctor('--fail-on', 'warning')).toMatchObject({ code: 0, findings: [{ severity: 'info' }] });
    // From the same run: what was fixed meanwhile stays fixed.
    await mend(findings.slice(1));
    expect((await doctor()).findings).toEqual([]);
    expect((await doctor('--account', 'self')).findings).toEqual([]);
    const stranger = await doctor('--account', 'default/stranger');
    expect(stranger.findings.map(({ check }) => check)).toContain('rights-missing');
    const overlays = stranger.findings.find(({ sentence }) => sentence.includes('node overlays'));
    expect(overlays?.fixes[0]?.sentence).toContain('nodeoverlays');
    expect(overlays?.fixes[0]?.sentence).not.toContain('pods');
    expect((await doctor('--account', 'none')).findings).toEqual([]);
  });

  it('finds a quota that is nearly used up', async () => {
    const azure = await ArmFixture.start({ quota: { standardDSv5Family: 2 }, location: 'eastus' });
    try {
      await cluster.addPool('default', { disruption: { consolidateAfter: 'Never', budgets: [{ nodes: '100%' }] } });
      cluster.subscription = azure.arm.subscriptionId;
      await cluster.addNode({ name: 'one', pool: 'default', pods: [{ name: 'web', object: {} }] });
      const environment = join(cluster.folder, 'azure.env');
      const [certificate, cloud] = [join(cluster.folder, 'azure.pem'), join(cluster.folder, 'azure.json')];
      await writeAzureEnvironment({ environment, certificate, cloud }, azure.arm, '');
      await azure.createMachine('one');
      const { stdout, code } = await cluster.nodewright(['doctor', '-o', 'yaml', '--state-dir', cluster.folder]);
      expect(code).toBe(1);
      const { findings } = parseYaml(stdout) as { readonly findings: readonly Finding[] };
      expect(findings.filter(({ check }) => check.startsWith('quota'))).toMatchObject([
        {
          check: 'quota-near',
          severity: 'error',
          object: { kind: 'Quota', name: 'standardDSv5Family' },
          sentence: '2 of 2 are used in eastus, and nothing more of it can be launched',
        },
      ]);
      azure.arm.setQuota('standardDSv5Family', 10_000);
      const quotaChecks = async (): Promise<readonly string[]> =>
        named((await doctor('--state-dir', cluster.folder)).findings).filter((each) => each.includes('quota'));
      expect(await quotaChecks()).toEqual([]);
      azure.arm.setQuota('standardDSv5Family', 1);
      await cluster.kube.delete(Kinds.Node, { name: 'one' });
      cluster.subscription = 'unknown';
      await cluster.addNode({ name: 'two', pool: 'default' });
      expect(await quotaChecks()).toEqual(['info quota-unknown eastus']);
      const elsewhere = join(cluster.folder, 'none');
      expect(await cluster.nodewright(['doctor', '--state-dir', elsewhere])).toEqual({ code: 1, stdout: '' });
    } finally {
      await azure.close();
    }
  });
});
