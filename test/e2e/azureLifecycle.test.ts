/**
 * A NodePool and an AKSNodeClass from the documentation of AKS, on a real control plane: a deployment gets a node, and
 * everything is removed with it; also when the program is killed at a write to Azure and restarted.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderChart } from '../../src/aks/renderChart.ts';
import { Kinds } from '../../src/api/kinds.ts';
import { Labels } from '../../src/api/labels.ts';
import type { ArmOperation } from '../../src/local/arm/faultPlan.ts';
import { eventually } from '../controlplane/eventually.ts';
import { AzureProgram } from './azureProgram.ts';

const CHART = join(import.meta.dirname, '../../charts/nodewright');
const PATIENCE = 200_000;
const OURS = /^microsoft\.(?:compute\/virtualmachines|compute\/disks|network\/networkinterfaces)$/;
const MANIFESTS = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general-purpose
  annotations:
    kubernetes.io/description: "General purpose NodePool for generic workloads"
spec:
  template:
    spec:
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: ["amd64"]
        - key: kubernetes.io/os
          operator: In
          values: ["linux"]
        - key: karpenter.sh/capacity-type
          operator: In
          values: ["on-demand"]
        - key: karpenter.azure.com/sku-family
          operator: In
          values: [D]
      nodeClassRef:
        group: karpenter.azure.com
        kind: AKSNodeClass
        name: default
      expireAfter: 720h
  limits:
    cpu: "1000"
    memory: 1000Gi
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1s
    budgets:
      - nodes: 30%
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata:
  name: default
  annotations:
    kubernetes.io/description: "General purpose AKSNodeClass for running Ubuntu nodes"
spec:
  imageFamily: Ubuntu
  osDiskSizeGB: 128
  tags:
    team: web
`;

const deploymentOf = (name: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: 3
  selector:
    matchLabels: { app: ${name} }
  template:
    metadata:
      labels: { app: ${name} }
    spec:
      containers:
        - name: web
          image: web
          resources:
            requests: { cpu: 500m, memory: 1Gi }
`;

describe('a deployment on AKS', () => {
  let program: AzureProgram;
  /** The program is killed after this write to Azure. */
  let fatal: string | undefined;
  let killed: Promise<unknown> | undefined;
  let kubeconfig: string;
  const left = new Set<string>();

  function before({ name }: ArmOperation): undefined {
    if (name !== fatal) return;
    fatal = undefined;
    killed = program.end('SIGKILL');
  }

  beforeAll(async () => {
    program = await AzureProgram.prepare({ faults: { before } });
    program.arm.onChange((change) => {
      if ('removed' in change) left.delete(change.removed.toLowerCase());
      if ('resource' in change && OURS.test(change.resource.type.toLowerCase()))
        left.add(change.resource.id.toLowerCase());
    });
    await apply(MANIFESTS);
    const rights = renderChart(CHART, { image: { repository: 'x' } }, { Name: 'nodewright', Namespace: 'kube-system' });
    const input = rights
      .filter(({ kind }) => /Role|ServiceAccount/.test(kind))
      .map((object) => JSON.stringify(object))
      .join('\n---\n');
    await apply(input);
    kubeconfig = await program.plane.kubeconfigFor('system:serviceaccount:kube-system:nodewright', [
      'system:serviceaccounts',
      'system:serviceaccounts:kube-system',
      'system:authenticated',
    ]);
    await launch();
  });
  afterAll(() => program?.close());

  /** With the chart's RBAC. Without a lease, a restarted program need not wait for the killed one. */
  function launch(): Promise<void> {
    return program.launch({ KUBECONFIG: kubeconfig, DISABLE_LEADER_ELECTION: 'true' });
  }

  async function apply(input: string): Promise<void> {
    const { code, stderr } = await program.plane.kubectl(['apply', '-f', '-'], { input });
    if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
  }

  async function deployed(name: string): Promise<void> {
    await apply(deploymentOf(name));
    await relaunched();
    const rollout = await program.plane.kubectl(['rollout', 'status', `deployment/${name}`, `--timeout=${PATIENCE}ms`]);
    expect({ ...rollout, log: readFileSync(program.log, 'utf8').slice(-3000) }).toMatchObject({ code: 0 });
  }

  async function removed(name: string): Promise<void> {
    await program.plane.kubectl(['delete', 'deployment', name]);
    await relaunched();
    await eventually(
      'nothing is left in Azure',
      async () => (left.size === 0 && (await program.kube.list(Kinds.NodeClaim)).items.length === 0 ? true : undefined),
      PATIENCE,
    );
    expect((await program.kube.list(Kinds.Node)).items).toEqual([]);
  }

  /** Waits for the pending kill, and restarts the program. */
  async function relaunched(): Promise<void> {
    if (fatal === undefined && killed === undefined) return;
    await eventually('the program is killed', () => killed, PATIENCE);
    killed = undefined;
    await launch();
  }

  it(
    'gets a VM with interface and disk that joins as a node of the pool, and all go again',
    { timeout: 480_000 },
    async () => {
      await deployed('web');
      const { items: nodes } = await program.kube.list(Kinds.Node);
      expect(nodes).toHaveLength(1);
      expect(nodes[0]?.metadata.labels).toMatchObject({
        [Labels.nodePool]: 'general-purpose',
        [Labels.initialized]: 'true',
        'karpenter.azure.com/sku-family': 'D',
      });
      expect([...left].map((id) => id.split('/').at(-2) ?? '').sort()).toEqual([
        'disks',
        'networkinterfaces',
        'virtualmachines',
      ]);
      await removed('web');
      expect(readFileSync(program.log, 'utf8')).not.toContain('is forbidden');
    },
  );

  it.each([
    ['interface', 'networkInterfaces.createOrUpdate', 'deploys'],
    ['VM', 'virtualMachines.createOrUpdate', 'deploys'],
    ['removal', 'virtualMachines.delete', 'removes'],
  ])('comes and goes though the program is killed at the %s', { timeout: 480_000 }, async (_, write, phase) => {
    const name = `web-${write.toLowerCase().replaceAll('.', '-')}`;
    if (phase === 'deploys') fatal = write;
    await deployed(name);
    expect(program.arm.virtualMachines()).toHaveLength(1);
    if (phase === 'removes') fatal = write;
    await removed(name);
  });
});
